import { expect, test } from 'vitest'
import { eitherOf, FLAG, unlessEmpty } from './codecs.ts'
import { type FieldTable, RecordFields } from './fields.ts'
import { UnreadableRecordError } from './stored-json.ts'
import { type StoredSubscription, SUBSCRIPTION } from './subscription-fields.ts'
import { TOPIC } from './topic-fields.ts'

interface Sample {
  id: string
  size: number
  isOpen: boolean
  tags: Record<string, string>
  kind: 'small' | 'large'
  note?: string | null
}

const ROWS = {
  id: { stored: 'i', required: true, type: 'string', shown: 'asItIs' },
  size: { stored: 's', default: 5, shown: 'asItIs', setting: true },
  isOpen: { stored: 'o', codec: FLAG, default: false, shown: 'never', setting: true },
  tags: { stored: 't', codec: unlessEmpty(), default: {}, shown: 'never' },
  kind: {
    stored: 'k',
    codec: eitherOf('small', 'large'),
    defaultOf: ({ size = 0 }) => (size > 9 ? ('large' as const) : ('small' as const)),
    shown: 'asItIs',
  },
  note: { stored: 'n', optional: true, default: null, shown: 'asItIs', setting: true },
} as const satisfies FieldTable<Sample>
const SAMPLE = new RecordFields<Sample, typeof ROWS>(ROWS)

const PLAIN: Sample = { id: 'a', size: 5, isOpen: false, tags: {}, kind: 'small' }

test('a default is not stored, and is read from a record that lacks it', () => {
  expect(SAMPLE.pack(PLAIN)).toEqual({ i: 'a' })
  expect(SAMPLE.unpack({ i: 'a' }, 'key')).toEqual(PLAIN)
  expect('note' in SAMPLE.unpack({ i: 'a' }, 'key')).toBe(false)
})

test('a value that differs from the default comes back as it was, by the names in Redis', () => {
  const other: Sample = { id: 'b', size: 12, isOpen: true, tags: { a: 'b' }, kind: 'large', note: 'x' }
  expect(SAMPLE.pack(other)).toEqual({ i: 'b', s: 12, o: 1, t: { a: 'b' }, n: 'x' })
  expect(SAMPLE.unpack(SAMPLE.pack(other), 'key')).toEqual(other)
})

test('records do not share their defaults', () => {
  const [first, second] = [SAMPLE.unpack({ i: 'a' }, 'key'), SAMPLE.unpack({ i: 'b' }, 'key')]
  first.tags.x = 'y'
  expect(second.tags).toEqual({})
})

test.each([{}, { i: 7 }])('a record without a required member is corrupt: %o', (packed) => {
  expect(() => SAMPLE.unpack(packed, 'key')).toThrow(UnreadableRecordError)
  expect(() => SAMPLE.unpack(packed, 'key')).toThrow('unreadable JSON in key')
})

test('settings, their defaults and what callers see follow from the rows', () => {
  expect(SAMPLE.settingDefaults).toEqual({ size: 5, isOpen: false, note: null })
  expect(SAMPLE.initialSettings).toEqual({ size: 5, isOpen: false })
  expect(SAMPLE.givenSettings({ id: 'z', size: 0, note: null })).toEqual({ size: 0, note: null })
  expect(SAMPLE.shown(PLAIN)).toEqual({ id: 'a', size: 5, kind: 'small', note: null })
})

test('a record that is stored by its own names keeps members of a later release', () => {
  const stored = { arn: 'a', name: 'n', uid: 'u', createdAt: 1, ofTomorrow: 2 }
  expect(TOPIC.complete(stored, 'key')).toMatchObject({ ...stored, displayName: '', attributes: {} })
})

test('no two fields of a record share a name in Redis', () => {
  const names = Object.values(SUBSCRIPTION.storedNames)
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => name.length !== 1)).toEqual([])
})

test('a subscription of which only the endpoint is stored has the defaults', () => {
  const { bit, createdAt, ...others } = SUBSCRIPTION.unpack(
    { e: 'https://example.com', o: 3, t: 4 },
    'key',
  ) satisfies StoredSubscription
  expect([bit, createdAt]).toEqual([3, 4])
  expect(others).toMatchObject({ protocol: 'https', status: 'active', maxInFlight: 32, redrivePolicy: null })
})
