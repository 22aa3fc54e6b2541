import { expect, test } from 'vitest'
import { createMessageId, formatMessageId, parseMessageId, publishedAtOf } from './message-id.ts'

test('an id is RFC 9562’s example for its time and random bits', () => {
  for (const [version, variant] of [
    [0x0c, 0x18],
    [0xfc, 0xd8],
  ] as const) {
    const random = Uint8Array.of(version, 0xc3, variant, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f)
    expect(createMessageId(1_645_557_742_000, random)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  }
})

test('ids of one time differ, sort behind earlier ones, and contain their time', () => {
  const early = Array.from({ length: 1_000 }, () => createMessageId(1_700_000_000_000))
  const late = Array.from({ length: 1_000 }, () => createMessageId(1_700_000_000_001))
  expect(new Set([...early, ...late])).toHaveLength(2_000)
  expect(
    early
      .toSorted()
      .at(-1)
      ?.localeCompare(late.toSorted()[0] ?? ''),
  ).toBe(-1)
  expect(publishedAtOf(late[0] ?? '')).toBe(1_700_000_000_001)
  for (const id of early) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
})

test('an id survives being read and written; what is no time is refused', () => {
  const id = createMessageId(1_700_000_000_000)
  expect(formatMessageId(parseMessageId(id) ?? Buffer.alloc(16))).toBe(id)
  expect(parseMessageId(id.toUpperCase())).toBeUndefined()
  expect(() => createMessageId(-1)).toThrow(RangeError)
  expect(() => createMessageId(2 ** 48)).toThrow(RangeError)
})
