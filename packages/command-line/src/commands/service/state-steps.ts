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

/** A step that fails ends the command. The earlier steps stay done, and another run continues from there. */
export async function applySteps(
  context: CommandContext,
  client: Client,
  steps: Step[],
  { goesOn = false }: ApplyOptions = {},
): Promise<ExitName> {
  const progress = context.out.progress('changes')
  let failed = 0
  for (const [index, step] of steps.entries()) {
    progress.update(index, steps.length)
    try {
      await doStep(client, step)
    } catch (error) {
      progress.end()
      const ends = !(goesOn && step.kind === 'subscription' && error instanceof ApiRefusal)
      if ((ends && index === 0) || context.signal.aborted) throw error
      context.out.warn(`${step.act} ${step.kind} ${step.name}: ${failureText(error)}`)
      failed++
      if (!ends) continue
      context.out.warn(`${index + 1 - failed} of ${steps.length} changes were made. Run it again to go on.`)
      return 'partlyDone'
    }
    progress.end()
    showStep(context, step)
  }
  if (failed > 0) {
    context.out.warn(`${steps.length - failed} of ${steps.length} changes were made.`)
    return 'partlyDone'
  }
  context.out.note(counted(steps.length, 'change'))
  return 'done'
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
