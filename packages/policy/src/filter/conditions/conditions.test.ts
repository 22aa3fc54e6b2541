/** The forms for many conditions and long texts give the same answers as a plain comparison. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressKey, keyOfAddress, parseAddress } from './addresses.ts'
import { type Candidate, type Condition, holds } from './condition.ts'
import { ConditionSet } from './condition-set.ts'
import { foldCase } from './fold-case.ts'
import { readConditions } from './read-conditions.ts'
import { matchesWildcard, parseWildcard } from './wildcard.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'B', 'ß', 'İ'), maxLength: 5 })
const number = fc.integer({ min: -3, max: 3 })
const addresses = ['10.0.0.1', '10.0.0.9', '10.0.1.1', '::1', '0:0::1', '1::', '::ffff:10.0.0.1', '010.0.0.1']
const address = fc.constantFrom(...addresses)
const inner = (value: fc.Arbitrary<unknown>) => fc.array(value, { minLength: 1, maxLength: 6 })
const pattern = fc.constantFrom('a*', '*b', '*a*', 'a*b', '*', 'ab', '*a*b*', 'B*ß')
const condition = fc.oneof(
  word,
  number,
  address,
  fc.constantFrom<unknown>(null, true, false),
  fc.record({ prefix: fc.oneof(word, fc.record({ 'equals-ignore-case': word })) }),
  fc.record({ suffix: fc.oneof(word, fc.record({ 'equals-ignore-case': word })) }),
  fc.record({ 'equals-ignore-case': word }),
  fc.record({ wildcard: pattern }),
  fc.record({
    cidr: fc.constantFrom('10.0.0.0/24', '10.0.0.8/29', '::/64', '::1/128', '1::/16', '0.0.0.0/0'),
  }),
  fc
    .tuple(number, number, fc.constantFrom('>', '>='), fc.constantFrom('<', '<='))
    .filter(([low, high]) => low < high)
    .map(([low, high, above, below]) => ({ numeric: [above, low, below, high] })),
  fc.tuple(fc.constantFrom('=', '<', '<=', '>', '>='), number).map((numeric) => ({ numeric })),
)
const exclusion = fc.oneof(
  inner(word),
  inner(number),
  fc.record({ prefix: inner(word) }),
  fc.record({ suffix: inner(word) }),
  fc.record({ wildcard: inner(pattern) }),
  fc.record({ 'equals-ignore-case': inner(word) }),
)
const excluding = fc.record({ 'anything-but': exclusion })
const value = fc.oneof(word, number, address, fc.constantFrom(null, true, Number.POSITIVE_INFINITY))
const candidate: fc.Arbitrary<Candidate> = fc.oneof(
  value.map((one) => ({ value: one })),
  number.map((one) => ({ value: one, text: `${one}` })),
)

test('many conditions asked as a whole hold where one of them does', () => {
  const lists = fc.array(fc.oneof(condition, excluding), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(lists, fc.array(candidate, { minLength: 1, maxLength: 8 }), (given, candidates) => {
      const conditions = readConditions(given)
      const set = new ConditionSet(conditions)
      for (const each of candidates) {
        const plain = conditions.some((one: Condition) => holds(one, { ...each }))
        expect(set.holds({ ...each }), JSON.stringify(each)).toBe(plain)
      }
    }),
    { numRuns: 1_000 },
  )
})

describe('addresses', () => {
  const group = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((n) => n.toString(16)),
    fc.constantFrom('', '0', '00', '0001', '12345', 'fffff', 'F', 'g'),
  )
  const groups = fc.array(group, { maxLength: 9 }).map((all) => all.join(':'))
  const v4 = fc
    .array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom('', '01', '0x1', '1e1')), {
      minLength: 3,
      maxLength: 5,
    })
    .map((parts) => parts.join('.'))
  const mixed = fc
    .tuple(groups, fc.constantFrom(':', '::', ''))
    .chain(([front, colons]) => v4.map((end) => `${front}${colons}${end}`))
  const compressed = fc.tuple(groups, groups).map((ends) => ends.join('::'))
  const any = fc.string({ unit: fc.constantFrom(':', '.', '0', '1', 'f', 'F'), maxLength: 12 })

  test('a text is read as ipaddr.js reads it', () => {
    fc.assert(
      fc.property(fc.oneof(v4, groups, compressed, mixed, any), (text) => {
        const ip = parseAddress(text)
        expect(addressKey(text)).toBe(ip && keyOfAddress(ip))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    '',
    ':',
    '::',
    ':::',
    '1',
    '1.2.3.4',
    '1.2.3',
    '256.1.1.1',
    '::1.2.3.4',
    '1::2::3',
    `${'0'.repeat(40)}::1`,
  ])('%s too', (text) => {
    const ip = parseAddress(text)
    expect(addressKey(text)).toBe(ip && keyOfAddress(ip))
  })
})

test('texts are folded character by character', () => {
  const naive = (text: string) =>
    [...text]
      .map((each) => {
        const upper = each.toUpperCase()
        return upper.length === each.length ? upper.toLowerCase() : each.toLowerCase()
      })
      .join('')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(foldCase(text)).toBe(naive(text))
    }),
  )
  expect(foldCase('STRASSE ẞ Σς İ 𐐀\ud800A'.repeat(2_000))).toBe(
    naive('STRASSE ẞ Σς İ 𐐀\ud800A'.repeat(2_000)),
  )
})

test('a long text is searched for long pieces in linear time, and right', () => {
  const near = 'a'.repeat(20_000)
  const text = `${'a'.repeat(100_000)}b${near}c`
  const finds = (wildcard: string) => matchesWildcard(parseWildcard(wildcard), text)
  expect(finds(`*b${near}a*`)).toBe(false)
  expect(finds(`*b${near}*c`)).toBe(true)
  expect(finds(`*${near}*b*c`)).toBe(true)
  expect(finds(`*${near}b*${near}b*`)).toBe(false)
  expect(finds(`*${'ab'.repeat(9_000)}*`)).toBe(false)
})
