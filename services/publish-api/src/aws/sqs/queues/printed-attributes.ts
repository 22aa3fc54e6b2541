/** A queue's attributes in SQS's form, and a comparison with given ones. */
import { isObject, objectOf, type QueueRecord } from '@fantail/contracts'
import type { QueueCounts } from '@fantail/store'
import { KMS_REUSE_SECONDS } from '../../../queues/stored-only-queue-attributes.ts'
import { changedSettings, NUMBERS, parseAttributes } from './queue-attributes.ts'

/** All attributes of a queue by name. undefined: the queue does not have it. */
export function printAttributes(
  queue: QueueRecord,
  counts?: QueueCounts,
): Record<string, string | undefined> {
  const { redrivePolicy, redriveAllowPolicy } = queue
  return {
    ...printNumbers(queue),
    ...(counts && printCounts(counts)),
    CreatedTimestamp: seconds(queue.createdAt),
    LastModifiedTimestamp: seconds(queue.modifiedAt),
    QueueArn: queue.arn,
    RedrivePolicy: redrivePolicy ? JSON.stringify(redrivePolicy) : undefined,
    RedriveAllowPolicy: redriveAllowPolicy ? JSON.stringify(redriveAllowPolicy) : undefined,
    // A queue is sealed only if somebody asks for it.
    SqsManagedSseEnabled: 'false',
    ...(queue.attributes.KmsMasterKeyId && { KmsDataKeyReusePeriodSeconds: KMS_REUSE_SECONDS.default }),
    ...queue.attributes,
    ...(queue.fifo && printFifo(queue)),
  }
}

function printNumbers(queue: QueueRecord): Record<string, string> {
  return Object.fromEntries(
    Object.entries(NUMBERS).map(([name, { member, max }]) => [name, String(queue[member] ?? max)]),
  )
}

function printCounts({ visible, inFlight, delayed }: QueueCounts): Record<string, string> {
  return {
    ApproximateNumberOfMessages: String(visible),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    ApproximateNumberOfMessagesDelayed: String(delayed),
  }
}

function printFifo(queue: QueueRecord): Record<string, string> {
  return {
    FifoQueue: 'true',
    ContentBasedDeduplication: String(queue.contentBasedDeduplication ?? false),
    DeduplicationScope: queue.deduplicationScope ?? 'queue',
    FifoThroughputLimit: queue.fifoThroughputLimit ?? 'perQueue',
  }
}

function seconds(epochMs: number): string {
  return String(Math.floor(epochMs / 1_000))
}

/** The first of the given attributes whose value the queue does not have. */
export function differingAttribute(given: Record<string, string>, queue: QueueRecord): string | undefined {
  const settings = changedSettings(parseAttributes(given, queue.arn), queue)
  const [wanted, present] = [printAttributes({ ...queue, ...settings }), printAttributes(queue)]
  return Object.keys(given).find((name) => !sameValue(wanted[name], present[name]))
}

/** JSON texts are equal if their values are, however they are written. */
function sameValue(a: string | undefined, b: string | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonical(a) === canonical(b))
}

/** Sorts the members of every object. A reviver does this also for deeply nested objects. */
function canonical(text: string): string {
  if (!objectOf(text)) return text
  const sorted = (_: string, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([x], [y]) => (x < y ? -1 : 1))) : value
  return JSON.stringify(JSON.parse(text, sorted))
}
