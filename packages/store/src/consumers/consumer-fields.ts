/** The fields of a push consumer's record, stored as JSON by their own names. */
import {
  CONSUMER_BATCH_SIZE_DEFAULT,
  CONSUMER_CONCURRENCY_DEFAULT,
  CONSUMER_TIMEOUT_SECONDS_DEFAULT,
  type ConsumerRecord,
} from '@fantail/contracts'
import { type FieldTable, RecordFields } from '../records/fields.ts'

const CONSUMER_FIELDS = {
  name: { required: true, type: 'string', shown: 'asItIs' },
  queueArn: { required: true, type: 'string', shown: 'asItIs' },
  url: { required: true, type: 'string', shown: 'asItIs' },
  outbound: { optional: true, default: null, shown: 'inOtherForm' },
  sealed: { optional: true, default: null, shown: 'never' },
  batchSize: { default: CONSUMER_BATCH_SIZE_DEFAULT, shown: 'asItIs', setting: true },
  batchWindowSeconds: { default: 0, shown: 'asItIs', setting: true },
  concurrency: { default: CONSUMER_CONCURRENCY_DEFAULT, shown: 'asItIs', setting: true },
  timeoutSeconds: { default: CONSUMER_TIMEOUT_SECONDS_DEFAULT, shown: 'asItIs', setting: true },
  enabled: { default: true, shown: 'asItIs', setting: true },
  reportBatchItemFailures: { default: false, shown: 'asItIs', setting: true },
  revision: { required: true, type: 'string', shown: 'never' },
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
  modifiedAt: { required: true, type: 'number', shown: 'inOtherForm' },
} as const satisfies FieldTable<ConsumerRecord>

export const CONSUMER = new RecordFields<ConsumerRecord, typeof CONSUMER_FIELDS>(CONSUMER_FIELDS)

/** Fields that callers may set; the store sets all others of a ConsumerRecord. */
export type ConsumerSettings = Pick<
  ConsumerRecord,
  keyof typeof CONSUMER.settingDefaults | 'url' | 'outbound' | 'sealed'
>
