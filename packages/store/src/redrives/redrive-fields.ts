/**
 * The fields of a redrive task. They are members of its hash, in which '' means none. The creating script sets all of
 * them.
 */
import type { RedriveTask } from '@fantail/contracts'
import { HASH_NUMBER, HASH_NUMBERS, hashJson } from '../records/codecs.ts'
import { type FieldTable, RecordFields } from '../records/fields.ts'

const REDRIVE_FIELDS = {
  id: { required: true, type: 'string', shown: 'asItIs' },
  action: { default: 'redrive', shown: 'asItIs' },
  source: { required: true, type: 'string', shown: 'asItIs' },
  status: { required: true, type: 'string', shown: 'asItIs' },
  destination: { default: null, shown: 'asItIs' },
  filter: { codec: hashJson(), default: {}, shown: 'never' },
  edit: { codec: hashJson(), optional: true, default: null, shown: 'never' },
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
