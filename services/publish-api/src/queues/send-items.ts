/** Checks a request's messages against the queue's rules. */
import {
  FantailError,
  type MessageAttribute,
  messageBytes,
  type Problem,
  QUEUE_MESSAGE_BYTES_MAX,
  type QueueRecord,
  toAttribute,
} from '@fantail/contracts'
import type { QueueItemInput } from '@fantail/contracts/schemas/queues/queue-sending-schemas'
import type { SendItem } from '@fantail/store'
import type { z } from 'zod'
import { invalid } from '../http/error-answers.ts'

type Input = z.output<typeof QueueItemInput>

/** Returns all items. Throws `validation_failed` with every problem, or `too_large`. */
export function sendItems(queue: QueueRecord, inputs: Input[], batch: boolean): SendItem[] {
  const path = (index: number) => (batch ? `messages[${index}].` : '')
  const problems = inputs.flatMap((input, index) =>
    problemsOf(queue, input).map((problem) => ({ ...problem, path: path(index) + problem.path })),
  )
  if (problems.length > 0) throw invalid(problems)
  return inputs.map((input, index) => toItem(queue, input, path(index)))
}

function problemsOf(queue: QueueRecord, { groupId, deduplicationId, delaySeconds = 0 }: Input): Problem[] {
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

function toItem(queue: QueueRecord, { attributes, ...input }: Input, path: string): SendItem {
  const named = attributes === undefined ? undefined : toAttributes(attributes as Record<string, unknown>)
  const bytesMax = queue.maximumMessageBytes ?? QUEUE_MESSAGE_BYTES_MAX
  if (messageBytes(input.body, named) > bytesMax) {
    const message = `and its attributes must have at most ${bytesMax} bytes together`
    throw new FantailError('too_large', `body ${message}`, { details: [{ path: `${path}body`, message }] })
  }
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return { body: input.body, ...Object.fromEntries(given), ...(named && { attributes: named }) }
}

function toAttributes(inputs: Record<string, unknown>): Record<string, MessageAttribute> {
  const entries = Object.entries(inputs).map(([name, input]) => [name, toAttribute(input)] as const)
  return Object.fromEntries(
    entries.filter((entry): entry is [string, MessageAttribute] => entry[1] !== undefined),
  )
}
