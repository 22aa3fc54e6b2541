/** The fields of a topic's record, stored as JSON by their own names. */
import { RETENTION_SECONDS_DEFAULT, type TopicRecord } from '@fantail/contracts'
import { type FieldTable, RecordFields } from './fields.ts'

const TOPIC_FIELDS = {
  arn: { required: true, type: 'string', shown: 'asItIs' },
  name: { required: true, type: 'string', shown: 'asItIs' },
  uid: { required: true, type: 'string', shown: 'never' },
  fifo: { optional: true, default: false, shown: 'inOtherForm' },
  displayName: { default: '', shown: 'asItIs', setting: true },
  deliveryPolicy: { default: null, shown: 'asItIs', setting: true },
  disableSubscriptionOverrides: { default: false, shown: 'asItIs', setting: true },
  retentionSeconds: { default: RETENTION_SECONDS_DEFAULT, shown: 'asItIs', setting: true },
  keepMessages: { optional: true, default: null, shown: 'asItIs', setting: true },
  archive: { optional: true, default: null, shown: 'asItIs', setting: true },
  notices: { optional: true, default: null, shown: 'asItIs', setting: true },
  disableAfterDays: { optional: true, default: null, shown: 'asItIs', setting: true },
  signing: { default: 'none', shown: 'asItIs', setting: true },
  attributes: { default: {}, shown: 'asItIs', setting: true },
  contentBasedDeduplication: { optional: true, default: false, shown: 'inOtherForm', setting: true },
  recordAttempts: { optional: true, default: null, shown: 'inOtherForm', setting: true },
  fifoThroughputScope: { optional: true, default: null, shown: 'asItIs', setting: true },
  eventTypeCheck: { optional: true, default: 'off', shown: 'asItIs', setting: true },
  sealMessages: { optional: true, default: false, shown: 'asItIs', setting: true },
  tags: { optional: true, default: {}, shown: 'asItIs', setting: true },
  // Appended by put-topic.
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
} as const satisfies FieldTable<TopicRecord>

export const TOPIC = new RecordFields<TopicRecord, typeof TOPIC_FIELDS>(TOPIC_FIELDS)

/** Fields that callers may set; the store sets all others of a TopicRecord. */
export type TopicSettings = Pick<TopicRecord, keyof typeof TOPIC.settingDefaults>
