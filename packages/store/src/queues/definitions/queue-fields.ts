/** The fields of a queue's record, stored as JSON by their own names. */
import {
  QUEUE_MESSAGE_BYTES_MAX,
  QUEUE_RETENTION_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_DEFAULT,
  type QueueRecord,
} from '@fantail/contracts'
import { parseRecord } from '../../records/checksums.ts'
import { type FieldTable, RecordFields } from '../../records/fields.ts'

const QUEUE_FIELDS = {
  visibilityTimeoutSeconds: { default: QUEUE_VISIBILITY_SECONDS_DEFAULT, shown: 'asItIs', setting: true },
  retentionSeconds: { default: QUEUE_RETENTION_SECONDS_DEFAULT, shown: 'asItIs', setting: true },
  delaySeconds: { default: 0, shown: 'asItIs', setting: true },
  receiveWaitSeconds: { default: 0, shown: 'asItIs', setting: true },
  redrivePolicy: { default: null, shown: 'asItIs', setting: true },
  attributes: { default: {}, shown: 'asItIs', setting: true },
  contentBasedDeduplication: { optional: true, default: false, shown: 'inOtherForm', setting: true },
  deduplicationScope: { optional: true, default: 'queue', shown: 'inOtherForm', setting: true },
  fifoThroughputLimit: { optional: true, default: null, shown: 'asItIs', setting: true },
  maximumMessageBytes: { optional: true, default: QUEUE_MESSAGE_BYTES_MAX, shown: 'asItIs', setting: true },
  redriveAllowPolicy: { optional: true, default: null, shown: 'asItIs', setting: true },
  leaseSeconds: { optional: true, default: null, shown: 'asItIs', setting: true },
  sealMessages: { optional: true, default: false, shown: 'asItIs', setting: true },
  tags: { optional: true, default: {}, shown: 'asItIs', setting: true },
  arn: { required: true, type: 'string', shown: 'asItIs' },
  name: { required: true, type: 'string', shown: 'asItIs' },
  uid: { required: true, type: 'string', shown: 'never' },
  deadLettersOf: { optional: true, default: null, shown: 'asItIs' },
  fifo: { optional: true, default: false, shown: 'inOtherForm' },
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
  modifiedAt: { required: true, type: 'number', shown: 'inOtherForm' },
} as const satisfies FieldTable<QueueRecord>

export const QUEUE = new RecordFields<QueueRecord, typeof QUEUE_FIELDS>(QUEUE_FIELDS)

/** Fields that callers may set; the store sets all others of a QueueRecord. */
export type QueueSettings = Pick<QueueRecord, keyof typeof QUEUE.settingDefaults>

/** Reads a record. Throws an UnreadableRecordError that names the queue's key. */
export function parseQueue(text: string, key: string): QueueRecord {
  return QUEUE.complete(parseRecord(text, key), key)
}
