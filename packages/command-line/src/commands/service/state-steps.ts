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

/** A step that fails ends the command. The earlier steps stay done, and another run continues from there. */
export async function applySteps(
  context: CommandContext,
  client: Client,
  steps: Step[],
  { goesOn = false }: ApplyOptions = {},
): Promise<ExitName> {
  const { out, signal } = context
  const progress = out.progress('changes')
  let [made, failed, hasEnded] = [0, 0, false]
  const make = async (step: Step) => {
    if (hasEnded) return
    try {
      await doStep(client, step)
    } catch (error) {
      progress.end()
      const ends = !(goesOn && step.kind === 'subscription' && error instanceof ApiRefusal)
      if ((ends && made + failed === 0) || signal.aborted) throw error
      out.warn(`${step.act} ${step.kind} ${step.name}: ${failureText(error)}`)
      failed++
      hasEnded ||= ends
      return
    }
    progress.end()
    showStep(context, step)
    progress.update(++made + failed, steps.length)
  }
  for (const group of independent(steps)) await sideBySide(group, CHANGES_AT_ONCE, make)
  progress.end()
  if (failed === 0) {
    out.note(counted(steps.length, 'change'))
    return 'done'
  }
  const more = hasEnded ? ' Run it again to go on.' : ''
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

export function showStep({ out }: CommandContext, step: ShownStep): void {
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
