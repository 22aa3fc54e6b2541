/**
 * The answers of a path, one step after another: `reply(500).times(2).then(200)`. A step without `times` answers once
 * if another step follows, and for ever if it is the last one. After a last step with `times`, all answers are 200.
 */
import { setTimeout as delay } from 'node:timers/promises'

export interface Answer {
  /** Default: 200. */
  status?: number
  headers?: Record<string, string>
  /** An object is sent as JSON. */
  body?: string | Uint8Array | object
}

/** `hang`: there is never an answer. `reset`: the connection is reset. */
export type Reply = number | 'hang' | 'reset' | Answer

export interface Step {
  reply: Reply
  /** How many requests it answers. */
  times: number | undefined
  delayMs: number
}

const FIRST_STATUS = 200
const LAST_STATUS = 599
const DONE: Step = { reply: 200, times: undefined, delayMs: 0 }

export class AnswerScript {
  readonly #steps: Step[] = []

  add(reply: Reply): Step {
    const step: Step = { reply: checkedReply(reply), times: undefined, delayMs: 0 }
    this.#steps.push(step)
    return step
  }

  /** `n`: how many requests the script has answered before. */
  stepOf(n: number): Step {
    let rest = n
    for (const [index, step] of this.#steps.entries()) {
      const isLast = index === this.#steps.length - 1
      const times = step.times ?? (isLast ? Number.POSITIVE_INFINITY : 1)
      if (rest < times) return step
      rest -= times
    }
    return DONE
  }
}

/** A step of a script. Its methods add the next step. */
export class ScriptStep {
  readonly #script: AnswerScript
  readonly #step: Step

  constructor(script: AnswerScript, reply: Reply) {
    this.#script = script
    this.#step = script.add(reply)
  }

  /** How many requests get this answer. */
  times(count: number): this {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new TypeError(`times must be 1 or more, not ${count}`)
    this.#step.times = count
    return this
  }

  /** The answer waits so long. */
  delay(ms: number): this {
    if (!Number.isFinite(ms) || ms < 0) throw new TypeError(`delay must be milliseconds, not ${ms}`)
    this.#step.delayMs = ms
    return this
  }

  /** The next answer. */
  // biome-ignore lint/suspicious/noThenProperty: A script reads like a sentence; `await` is refused in words below.
  then(reply: Reply): ScriptStep {
    if (typeof reply === 'function')
      throw new TypeError('a script is not a promise: remove the await before it')
    return new ScriptStep(this.#script, reply)
  }
}

function checkedReply(reply: Reply): Reply {
  if (reply === 'hang' || reply === 'reset') return reply
  const status = typeof reply === 'number' ? reply : reply?.status
  const isAnswer = typeof reply === 'number' || (typeof reply === 'object' && reply !== null)
  const isStatus =
    Number.isSafeInteger(status ?? 200) && (status ?? 200) >= FIRST_STATUS && (status ?? 200) <= LAST_STATUS
  if (isAnswer && isStatus) return reply
  throw new TypeError(
    `a reply is a status from ${FIRST_STATUS} to ${LAST_STATUS}, { status, headers, body }, 'hang' or 'reset'`,
  )
}

/** Waits as long as the step says. Ends at once if the receiver is closed. */
export async function waitBefore({ delayMs }: Step, signal: AbortSignal): Promise<void> {
  if (delayMs > 0) await delay(delayMs, undefined, { signal, ref: false }).catch(() => undefined)
}
