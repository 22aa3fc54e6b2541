/** Settings of a queue and messages to it, from bodies of the REST API. */
import {
  FantailError,
  isFifoName,
  isSealing,
  type MessageAttribute,
  messageBytes,
  type Problem,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueRecord,
  resolveQueue,
  toAttribute,
} from '@fantail/contracts'
import type { QueueInput } from '@fantail/contracts/schemas/queues/queue-schemas'
import type { QueueItemInput } from '@fantail/contracts/schemas/queues/queue-sending-schemas'
import { QUEUE, type QueueSettings, type SendItem } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { invalid } from '../http/error-answers.ts'
import { checkKind, checkSealing } from '../topics/topic-changes.ts'
import { queueAttributeProblems } from './stored-only-queue-attributes.ts'

type Input = z.output<typeof QueueInput>

const FIFO_ONLY = ['contentBasedDeduplication', 'deduplicationScope', 'fifoThroughputLimit'] as const

/**
 * The given members, with `null` as the default and queues as ARNs. Throws `validation_failed`, and `not_supported` if
 * there is no master key to seal messages with. Throws `conflict` if the queue exists and `fifo` asks for the other
 * kind.
 */
export async function queueSettings(
  deps: Pick<ApiDeps, 'queues' | 'pushConsumers' | 'settings' | 'vault'>,
  arn: string,
  { fifo, ...input }: Input,
): Promise<Partial<QueueSettings>> {
  await checkKind('queue', deps.queues, arn, fifo)
  checkSealing(deps, input)
  if (input.leaseSeconds && ((await deps.pushConsumers.of(arn)) ?? []).length > 0)
    throw FantailError.invalid('leaseSeconds', 'is not for a queue with push consumers')
  const members = Object.entries({ ...input, ...namedQueues(deps, input) })
  const given = members.filter(([, value]) => value !== undefined)
  const problems = [
    ...FIFO_ONLY.filter((name) => !isFifoName(arn) && input[name] != null).map((path) => ({
      path,
      message: 'is for FIFO queues only',
    })),
    ...queueAttributeProblems(input.attributes ?? {}),
  ]
  if (problems.length > 0) throw invalid(problems)
  return Object.fromEntries(
    given.map(([name, value]) => [name, value ?? QUEUE.settingDefaults[name as keyof QueueSettings]]),
  )
}

function namedQueues({ settings }: Pick<ApiDeps, 'settings'>, input: Input): Partial<Input> {
  const { redrivePolicy, redriveAllowPolicy } = input
  const target = 'redrivePolicy.deadLetterTargetArn'
  const source = (i: number) => `redriveAllowPolicy.sourceQueueArns[${i}]`
  return {
    ...(redrivePolicy && {
      redrivePolicy: {
        ...redrivePolicy,
        deadLetterTargetArn: resolveQueue(redrivePolicy.deadLetterTargetArn, settings.arn, target),
      },
    }),
    ...(redriveAllowPolicy?.sourceQueueArns && {
      redriveAllowPolicy: {
        ...redriveAllowPolicy,
        sourceQueueArns: redriveAllowPolicy.sourceQueueArns.map((name, i) =>
          resolveQueue(name, settings.arn, source(i)),
        ),
      },
    }),
  }
}

type ItemInput = z.output<typeof QueueItemInput>

/**
 * Checks a request's messages against the queue's rules. Returns all items. Throws `validation_failed` with every
 * problem, or `too_large`.
 */
export function sendItems(queue: QueueRecord, inputs: ItemInput[], batch: boolean): SendItem[] {
  const path = (index: number) => (batch ? `messages[${index}].` : '')
  const problems = inputs.flatMap((input, index) =>
    problemsOf(queue, input).map((problem) => ({ ...problem, path: path(index) + problem.path })),
  )
  if (problems.length > 0) throw invalid(problems)
  return inputs.map((input, index) => toItem(queue, input, path(index)))
}

function problemsOf(
  queue: QueueRecord,
  { groupId, deduplicationId, delaySeconds = 0 }: ItemInput,
): Problem[] {
  const problems: Problem[] = []
  const add = (path: string, message: string) => problems.push({ path, message })
  if (!queue.fifo) {
    if (deduplicationId !== undefined) add('deduplicationId', 'is for FIFO queues only')
    return problems
  }
  if (groupId === undefined) add('groupId', 'is required by a FIFO queue')
  if (deduplicationId === undefined && !queue.contentBasedDeduplication) {
    add('deduplicationId', 'is required by a FIFO queue without contentBasedDeduplication')
  }
  if (delaySeconds > 0)
    add('delaySeconds', 'must be 0: the delay of a FIFO queue is that of all its messages')
  return problems
}

function toItem(queue: QueueRecord, { attributes, ...input }: ItemInput, path: string): SendItem {
  const named = attributes === undefined ? undefined : toAttributes(attributes as Record<string, unknown>)
  const bytesMax = queue.maximumMessageBytes ?? QUEUE_MESSAGE_BYTES_MAX
  if (messageBytes(input.body, named) > bytesMax) {
    const message = `and its attributes must have at most ${bytesMax} bytes together`
    throw new FantailError('too_large', `body ${message}`, { details: [{ path: `${path}body`, message }] })
  }
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const item = { body: input.body, ...Object.fromEntries(given), ...(named && { attributes: named }) }
  return isSealing(queue) ? { ...item, sealed: true } : item
}

function toAttributes(inputs: Record<string, unknown>): Record<string, MessageAttribute> {
  const entries = Object.entries(inputs).map(([name, input]) => [name, toAttribute(input)] as const)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, MessageAttribute] => entry[1] !== undefined),
  )
}
