/** Makes the steps of a plan on the server, and shows each of them. */
import {
  type Client,
  createQueue,
  createTopic,
  deleteEventType,
  deleteQueue,
  deleteSubscription,
  deleteTopic,
  putEventType,
  subscribe,
  updateQueue,
  updateSubscription,
  updateTopic,
} from '@fantail/client/api'
import { printable } from '@fantail/policy'
import { sideBySide } from '@fantail/store'
import type { CommandContext } from '../../frame/command-context.ts'
import { failureText } from '../../frame/failure-text.ts'
import { ApiRefusal, type ExitName } from '../../output/exit-codes.ts'
import type { Style } from '../../output/output.ts'
import { counted } from '../../output/text-table.ts'
import type { Step } from './state-plan.ts'

interface ApplyOptions {
  /** A subscription that is refused does not keep back the others. */
  goesOn?: boolean
}

/** Changes that are made at Fantail at the same time. Past it: the others wait. */
export const CHANGES_AT_ONCE = 8

/**
 * A step that fails ends the command when the steps beside it have ended. The steps that were made stay, and another
 * run continues from there. Throws only if nothing was made.
 */
export async function applySteps(
  { out, signal }: Pick<CommandContext, 'out' | 'signal'>,
  client: Client,
  steps: Step[],
  { goesOn = false }: ApplyOptions = {},
): Promise<ExitName> {
  const progress = out.progress('changes')
  const ending: { step: Step; error: unknown }[] = []
  let [made, failed] = [0, 0]
  const warnOf = (step: Step, error: unknown) => {
    out.warn(`${step.act} ${step.kind} ${step.name}: ${failureText(error)}`)
    failed++
  }
  const make = async (step: Step) => {
    if (ending.length > 0) return
    try {
      await doStep(client, step)
    } catch (error) {
      if (signal.aborted) throw error
      progress.end()
      if (goesOn && step.kind === 'subscription' && error instanceof ApiRefusal) warnOf(step, error)
      else ending.push({ step, error })
      return
    }
    progress.end()
    showStep({ out }, step)
    progress.update(++made + failed, steps.length)
  }
  for (const group of independent(steps)) await sideBySide(group, CHANGES_AT_ONCE, make)
  progress.end()
  const [first] = ending
  if (first && made + failed === 0) throw first.error
  for (const { step, error } of ending) warnOf(step, error)
  if (failed === 0) {
    out.note(counted(steps.length, 'change'))
    return 'done'
  }
  const more = first ? ' Run it again to go on.' : ''
  out.warn(`${made} of ${steps.length} changes were made.${more}`)
  return 'partlyDone'
}

/**
 * The steps in order, in groups whose steps do not depend on each other. Topics do not, and neither do subscriptions. A
 * queue may need its dead-letter queue before it.
 */
function independent(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = []
  for (const step of steps) {
    const [last] = groups.at(-1) ?? []
    const isAlike = last?.kind === step.kind && last.act === step.act
    if (isAlike && step.kind !== 'queue') groups.at(-1)?.push(step)
    else groups.push([step])
  }
  return groups
}

async function doStep(
  client: Client,
  { act, kind, name, topic = '', id = '', settings: body }: Step,
): Promise<void> {
  const actions: Record<Step['kind'], Record<Step['act'], () => Promise<unknown>>> = {
    queue: {
      create: () => createQueue({ client, path: { queue: name }, body }),
      change: () => updateQueue({ client, path: { queue: name }, body }),
      delete: () => deleteQueue({ client, path: { queue: name } }),
    },
    topic: {
      create: () => createTopic({ client, path: { topic: name }, body }),
      change: () => updateTopic({ client, path: { topic: name }, body }),
      delete: () => deleteTopic({ client, path: { topic: name } }),
    },
    eventType: {
      create: () => putEventType({ client, path: { topic, name }, body }),
      change: () => putEventType({ client, path: { topic, name }, body }),
      delete: () => deleteEventType({ client, path: { topic, name } }),
    },
    subscription: {
      create: () => subscribe({ client, path: { topic }, body: { ...body, endpoint: name } }),
      change: () => updateSubscription({ client, path: { id }, body }),
      delete: () => deleteSubscription({ client, path: { id } }),
    },
  }
  await actions[kind][act]()
}

const SIGNS: Record<Step['act'], [sign: string, style: Style]> = {
  create: ['+', 'green'],
  change: ['~', 'yellow'],
  delete: ['-', 'red'],
}

/** A step as it is shown. An import also sets secrets, whose values are not shown. */
export type ShownStep = Omit<Step, 'kind'> & { kind: Step['kind'] | 'secrets' }

export function showStep({ out }: Pick<CommandContext, 'out'>, step: ShownStep): void {
  const { act, kind, name, topic, settings, before } = step
  const [sign, style] = SIGNS[act]
  const of = topic === undefined ? '' : ` of ${topic}`
  const changes = Object.entries(before ?? {}).map(([member, value]) =>
    printable(`    ${member}: ${JSON.stringify(value)} → ${JSON.stringify(settings[member])}`),
  )
  out.item(
    step,
    () => [out.style(style, printable(`${sign} ${kind} ${name}${of}`)), ...changes].join('\n'),
    name,
  )
}
