/** The fields of an API key's record, stored as JSON by their own names. */
import type { ApiKeyRecord } from '@fantail/contracts'
import { type FieldTable, RecordFields } from '../records/fields.ts'

const API_KEY_FIELDS = {
  id: { required: true, type: 'string', shown: 'asItIs' },
  kind: { required: true, type: 'string', shown: 'asItIs' },
  name: { default: '', shown: 'asItIs' },
  account: { required: true, type: 'string', shown: 'asItIs' },
  scopes: { default: [], shown: 'asItIs' },
  prefixes: { default: [], shown: 'asItIs' },
  maxRequestsPerSecond: { default: null, shown: 'asItIs' },
  limitedBy: { optional: true, default: [], shown: 'asItIs' },
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
  secretHash: { optional: true, default: null, shown: 'never' },
  sealedSecret: { optional: true, default: null, shown: 'never' },
} as const satisfies FieldTable<ApiKeyRecord>

export const API_KEY = new RecordFields<ApiKeyRecord, typeof API_KEY_FIELDS>(API_KEY_FIELDS)
