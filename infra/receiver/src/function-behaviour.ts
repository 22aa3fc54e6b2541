/**
 * The receiver as Lambda's invoke API. Every name is a function that accepts its event. Functions named `flaky-3`,
 * `status-404`, `slow-5000` and `hang` behave like the paths with these words.
 */
import { type Behaviour, behaviourOf } from './behaviour.ts'

const INVOCATION = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/
/** Accepted, and runs later. */
const ACCEPTED = 202

/** Undefined if the path is no invocation. `type`: the header X-Amz-Invocation-Type. */
export function functionBehaviour(
  path: string,
  type: string | string[] | undefined,
  attempt: number,
): Behaviour | undefined {
  const [, name] = INVOCATION.exec(path) ?? []
  if (name === undefined) return undefined
  const asked = behaviourOf(`/${name.replace('-', '/')}`, attempt)
  const { status, delayMs } = asked ?? { status: 200, delayMs: 0 }
  return { status: status === 200 && type === 'Event' ? ACCEPTED : status, delayMs }
}
