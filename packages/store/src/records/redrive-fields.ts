/**
 * The fields of a redrive task. They are members of its hash, in which '' means none. The creating script sets all of
 * them.
 */
import { isObject, type RedriveEdit, type RedriveFilter, type RedriveTask } from '@fantail/contracts'
import { type Codec, HASH_NUMBER, HASH_NUMBERS, summedJson } from './codecs.ts'
import { type FieldTable, RecordFields } from './fields.ts'

/**
 * A filter is an order to move or remove letters, and each member narrows it. A member that is unknown or has another
 * type is therefore an error: without it the task would move or remove more than was asked for.
 */
const FILTER_MEMBERS: Record<keyof RedriveFilter, (value: unknown) => boolean> = {
  subscription: isText,
  subscriptions: isTexts,
  topic: isText,
  topicPrefix: isText,
  exceptTopics: isTexts,
  statusCode: (value) => value === 'none' || Number.isInteger(value),
  reason: isText,
  error: isText,
  since: Number.isFinite,
  until: Number.isFinite,
  messageIds: isTexts,
  failedOnly: (value) => typeof value === 'boolean',
}

const FILTER: Codec<RedriveFilter> = {
  encode: JSON.stringify,
  decode(stored) {
    const filter: unknown = JSON.parse(String(stored))
    if (!isObject(filter)) throw new TypeError('the filter is not an object')
    for (const [name, value] of Object.entries(filter)) {
      const isValid =
        Object.hasOwn(FILTER_MEMBERS, name) && FILTER_MEMBERS[name as keyof RedriveFilter](value)
      if (!isValid) throw new TypeError(`the filter has an unknown member or value: ${name}`)
    }
    return filter as RedriveFilter
  },
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isText)
}

const REDRIVE_FIELDS = {
  id: { required: true, type: 'string', shown: 'asItIs' },
  action: { default: 'redrive', shown: 'asItIs' },
  source: { required: true, type: 'string', shown: 'asItIs' },
  status: { required: true, type: 'string', shown: 'asItIs' },
  destination: { default: null, shown: 'asItIs' },
  filter: { codec: FILTER, default: {}, shown: 'never' },
  edit: { codec: summedJson<RedriveEdit>(), optional: true, default: null, shown: 'never' },
  matched: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  moved: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  skipped: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  delivered: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  backInDlq: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  discarded: { codec: HASH_NUMBER, default: 0, shown: 'asItIs' },
  inLanes: { codec: HASH_NUMBER, default: 0, shown: 'never' },
  shards: { codec: HASH_NUMBERS, default: [], shown: 'never' },
  canary: { codec: HASH_NUMBER, default: null, shown: 'asItIs' },
  pauseReason: { default: null, shown: 'inOtherForm' },
  startedBy: { default: null, shown: 'never' },
  maxMessagesPerSecond: { stored: 'rate', codec: HASH_NUMBER, default: null, shown: 'asItIs' },
  startedAt: { codec: HASH_NUMBER, default: 0, shown: 'inOtherForm' },
  endedAt: { codec: HASH_NUMBER, default: null, shown: 'inOtherForm' },
  error: { default: null, shown: 'inOtherForm' },
} as const satisfies FieldTable<RedriveTask>

export const REDRIVE = new RecordFields<RedriveTask, typeof REDRIVE_FIELDS>(REDRIVE_FIELDS)
