import type { FilterPolicyScope, MessageAttribute } from '@fantail/contracts'
import { startFairTimer } from '@fantail/test-kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileFilter, FilterCompiler, matchesFilter, reasonOf } from './compiled-filter.ts'
import { FilterPolicyError } from './conditions/filter-error.ts'
import { explainFilter } from './explain-filter.ts'
import { filterSubject, PARSED_SMALL_BYTES_MAX, parsedBytes } from './filter-subject.ts'
import { type Filtering, scopeOf } from './filtering.ts'
import { FilterIndex } from './indexes/filter-index.ts'
import { inOneGo } from './match-work.ts'
import { parseFilterPolicy } from './read-filter.ts'

type Policy = Record<string, unknown>
type Attributes = Record<string, MessageAttribute>

const text = (value: string): MessageAttribute => ({ type: 'String', value })
const number = (value: string): MessageAttribute => ({ type: 'Number', value })
const list = (value: string): MessageAttribute => ({ type: 'String.Array', value })

/**
 * `null`: the message matches. Otherwise the reason why not. The filter is checked by itself and through an index, and
 * both must agree.
 */
function verdict(
  policy: Policy,
  scope: FilterPolicyScope,
  message: { message: string; attributes?: Attributes },
) {
  const filter = compileFilter({ filterPolicy: parseFilterPolicy(policy, scope), filterPolicyScope: scope })
  const subject = filterSubject(message, scope)
  const matched = matchesFilter(filter, subject)
  const found: number[] = []
  FilterIndex.of([null, filter]).match(subject, (n) => found.push(n))
  expect(found).toEqual(matched ? [1] : [])
  return matched ? null : reasonOf(filter, subject)
}

const byAttributes = (policy: Policy, attributes: Attributes) =>
  verdict(policy, 'MessageAttributes', { message: 'x', attributes }) === null
const byBody = (policy: Policy, body: unknown) =>
  verdict(policy, 'MessageBody', { message: JSON.stringify(body) }) === null

describe('attributes', () => {
  test('[77] a policy without keys keeps nothing back', () => {
    expect(byAttributes({}, {})).toBe(true)
    expect(parseFilterPolicy('{}', 'MessageAttributes')).toEqual({})
  })

  test('[78] keys are ANDed, the values of one are ORed', () => {
    const policy = { a: ['1', '2'], b: ['x'] }
    expect(byAttributes(policy, { a: text('2'), b: text('x') })).toBe(true)
    expect(byAttributes(policy, { a: text('3'), b: text('x') })).toBe(false)
    expect(byAttributes(policy, { a: text('1') })).toBe(false)
  })

  test('[79] case counts, but for equals-ignore-case', () => {
    expect(byAttributes({ a: ['Tennis'] }, { a: text('tennis') })).toBe(false)
    expect(byAttributes({ A: ['x'] }, { a: text('x') })).toBe(false)
    expect(byAttributes({ a: [{ 'equals-ignore-case': 'TeNNIS' }] }, { a: text('tEnnis') })).toBe(true)
    expect(byAttributes({ a: [{ prefix: 'T' }] }, { a: text('tennis') })).toBe(false)
    expect(byAttributes({ a: [{ prefix: { 'equals-ignore-case': 'T' } }] }, { a: text('tennis') })).toBe(true)
  })

  test('[79] texts that differ in case alone are equal in every script', () => {
    const same = (policy: string, value: string) =>
      byAttributes({ a: [{ 'equals-ignore-case': policy }] }, { a: text(value) })
    expect(same('ΣΟΦΟΣ', 'σοφος')).toBe(true)
    expect(same('σοφοσ', 'σοφος')).toBe(true)
    expect(same('ÄRGER', 'ärger')).toBe(true)
    expect(same('strasse', 'straße')).toBe(false)
  })

  test.each([[{ prefix: '1' }], [{ suffix: '1' }], [{ wildcard: '*1*' }], [{ 'equals-ignore-case': '1' }]])(
    '[80] %j matches strings only',
    (condition) => {
      expect(byAttributes({ a: [condition] }, { a: text('1') })).toBe(true)
      expect(byAttributes({ a: [condition] }, { a: number('1') })).toBe(false)
      expect(byBody({ a: [condition] }, { a: 1 })).toBe(false)
    },
  )

  test('[81] strings and numbers are two things, numbers are equal by value', () => {
    expect(byAttributes({ a: [1] }, { a: text('1') })).toBe(false)
    expect(byAttributes({ a: [1] }, { a: number('1.0') })).toBe(true)
    expect(byAttributes({ a: [300] }, { a: number('3.0e2') })).toBe(true)
    expect(byAttributes({ a: ['1.0'] }, { a: number('1.0') })).toBe(true)
    expect(byBody({ a: [1] }, { a: '1' })).toBe(false)
  })

  test('[82] a numeric range has the bounds it says', () => {
    const policy = { a: [{ numeric: ['>', 0, '<=', 150] }] }
    const matches = ['0', '0.1', '150', '150.00001'].map((value) =>
      byAttributes(policy, { a: number(value) }),
    )
    expect(matches).toEqual([false, true, true, false])
    expect(byAttributes({ a: [{ numeric: ['=', 5] }] }, { a: number('5.0') })).toBe(true)
    expect(byAttributes({ a: [{ numeric: ['<', 5] }] }, { a: text('4') })).toBe(false)
  })

  test('[83] anything-but wants the key to be there', () => {
    const policy = { a: [{ 'anything-but': ['x', 'y'] }] }
    expect(byAttributes(policy, { a: text('z') })).toBe(true)
    expect(byAttributes(policy, { a: text('x') })).toBe(false)
    expect(byAttributes(policy, { b: text('z') })).toBe(false)
    expect(byAttributes({ a: [{ 'anything-but': [5] }] }, { a: number('5.0') })).toBe(false)
  })

  test('[84] exists false holds only where the key is missing, also beside other alternatives', () => {
    expect(byAttributes({ a: [{ exists: false }] }, { b: text('x') })).toBe(true)
    expect(byAttributes({ a: [{ exists: false }] }, { a: text('x') })).toBe(false)
    expect(byAttributes({ a: [{ exists: true }] }, { a: text('x') })).toBe(true)
    expect(byAttributes({ a: ['x', { exists: false }] }, { b: text('x') })).toBe(true)
    expect(byAttributes({ a: ['x', { exists: false }] }, { a: text('y') })).toBe(false)
  })

  test('nothing is missing in a message without attributes', () => {
    const message = { message: 'm' }
    const branches = [{ a: [{ exists: false }] }, { b: ['c'] }]
    for (const policy of [{ a: [{ exists: false }] }, { a: ['x', { exists: false }] }, { $or: branches }]) {
      expect(verdict(policy, 'MessageAttributes', message)).toBe('NoMessageAttributes')
    }
    expect(byAttributes({ $or: branches }, { b: text('x') })).toBe(true)
  })

  test('[86] any element of a String.Array will do; one that is no array of scalars matches nothing', () => {
    expect(byAttributes({ a: ['value1'] }, { a: list('["value1","value2"]') })).toBe(true)
    expect(byAttributes({ a: ['value1'] }, { a: list('["value2","value3"]') })).toBe(false)
    expect(byAttributes({ a: [1, null] }, { a: list('[true,null]') })).toBe(true)
    for (const broken of ['[', '{}', '[[1]]', '']) {
      expect(byAttributes({ a: [{ exists: true }] }, { a: list(broken) })).toBe(false)
      expect(byAttributes({ a: [{ exists: false }] }, { a: list(broken) })).toBe(false)
    }
    expect(byAttributes({ a: [{ exists: false }] }, { a: list('[]') })).toBe(true)
  })

  test('[87] a Binary attribute matches nothing and does not count as present', () => {
    const binary = { a: { type: 'Binary', value: 'eA==' } }
    expect(byAttributes({ a: ['eA=='] }, binary)).toBe(false)
    expect(byAttributes({ a: [{ exists: true }] }, binary)).toBe(false)
    expect(byAttributes({ a: [{ exists: false }] }, binary)).toBe(true)
  })

  test('[92] cidr holds inside its block, in both families', () => {
    const v4 = { a: [{ cidr: '10.0.0.0/24' }] }
    const texts = ['10.0.0.255', '10.0.0.256', '10.0.1.0', 'x', '::ffff:10.0.0.1']
    expect(texts.map((value) => byAttributes(v4, { a: text(value) }))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    const v6 = { a: [{ cidr: '2001:db8::/32' }] }
    expect(byAttributes(v6, { a: text('2001:0db8:0:0::1') })).toBe(true)
    expect(byAttributes(v6, { a: text('2001:db9::1') })).toBe(false)
  })

  test('an address matches in any spelling', () => {
    expect(byAttributes({ a: ['2001:db8::1'] }, { a: text('2001:0DB8:0:0:0:0:0:1') })).toBe(true)
    expect(byAttributes({ a: ['10.0.0.1'] }, { a: text('10.0.0.2') })).toBe(false)
  })

  test('[101] anything-but takes prefixes, suffixes, wildcards and equals-ignore-case', () => {
    const but = (pattern: Policy) => ({ a: [{ 'anything-but': pattern }] })
    expect(byAttributes(but({ prefix: ['x', 'y'] }), { a: text('ya') })).toBe(false)
    expect(byAttributes(but({ prefix: 'x' }), { a: text('ya') })).toBe(true)
    expect(byAttributes(but({ suffix: 'x' }), { a: text('ax') })).toBe(false)
    expect(byAttributes(but({ wildcard: 'a*c' }), { a: text('abc') })).toBe(false)
    expect(byAttributes(but({ wildcard: 'a*c' }), { a: text('abd') })).toBe(true)
    expect(byAttributes(but({ 'equals-ignore-case': ['X'] }), { a: text('x') })).toBe(false)
    expect(byAttributes(but({ suffix: 'x' }), { b: text('a') })).toBe(false)
  })

  test('[198] the reason says what kept the message back', () => {
    const of = (attributes: Attributes) =>
      verdict({ a: ['x'] }, 'MessageAttributes', { message: '{"a":"x"}', attributes })
    expect(of({ a: text('x') })).toBeNull()
    expect(of({ a: text('y') })).toBe('MessageAttributes')
    expect(of({})).toBe('NoMessageAttributes')
    expect(of({ a: list('[') })).toBe('InvalidAttributes')
    expect(of({ b: list('[') })).toBe('MessageAttributes')
    expect(verdict({ a: ['x'] }, 'MessageBody', { message: '{"a":"y"}' })).toBe('MessageBody')
    expect(verdict({ a: ['x'] }, 'MessageBody', { message: '[]' })).toBe('InvalidMessageBody')
  })
})

describe('bodies', () => {
  test('[85] null is matched by a null that is there, never by absence', () => {
    expect(byBody({ a: [null] }, { a: null })).toBe(true)
    expect(byBody({ a: [null] }, { b: 1 })).toBe(false)
    expect(byBody({ a: [null, { 'anything-but': 'x' }] }, {})).toBe(false)
    expect(byBody({ a: [true] }, { a: true })).toBe(true)
  })

  test.each(['"a"', '5', '[{"a":"x"}]', 'not JSON', ''])(
    '[88] a body %s is no object and matches nothing',
    (body) => {
      expect(verdict({ a: ['x'] }, 'MessageBody', { message: body })).toBe('InvalidMessageBody')
      expect(verdict({ a: [{ exists: false }] }, 'MessageBody', { message: body })).toBe('InvalidMessageBody')
    },
  )

  test('[89] dotted and nested keys are one', () => {
    for (const policy of [{ 'a.b': ['x'] }, { a: { b: ['x'] } }]) {
      expect(byBody(policy, { a: { b: 'x' } })).toBe(true)
      expect(byBody(policy, { 'a.b': 'x' })).toBe(true)
      expect(byBody(policy, { a: 'x' })).toBe(false)
    }
  })

  test('[90] two keys under an array of objects must hold in the same element', () => {
    const policy = { people: { name: ['ada'], role: ['admin'] } }
    expect(byBody(policy, { people: [{ name: 'ada', role: 'admin' }] })).toBe(true)
    expect(byBody(policy, { people: [{ name: 'ada' }, { role: 'admin' }] })).toBe(false)
    const mixed = [
      { name: 'ada', role: 'user' },
      { name: 'bob', role: 'admin' },
    ]
    expect(byBody(policy, { people: mixed })).toBe(false)
    expect(byBody(policy, { people: [mixed, [{ name: 'ada', role: ['x', 'admin'] }]] })).toBe(true)
    expect(byBody({ a: ['x'], b: ['y'] }, { a: ['w', 'x'], b: ['y', 'z'] })).toBe(true)
  })

  test('the longest message full of array elements keeps a worker for an instant', () => {
    // Half of the elements satisfy one clause, and half satisfy the other clause. Trying all pairs takes nine seconds.
    const elements = Array.from({ length: 26_000 }, (_, i) => (i % 2 ? { a: 'x' } : { b: 'y' }))
    const message = JSON.stringify({ r: elements })
    expect(message.length).toBeGreaterThan(256_000)
    const took = startFairTimer()
    expect(verdict({ r: { a: ['x'], b: ['y'] } }, 'MessageBody', { message })).toBe('MessageBody')
    expect(took()).toBeLessThan(2_000)
  })

  test('clauses in two arrays of objects are chosen apart, those in arrays within one are chosen together', () => {
    const rows = [
      { a: 'x', b: 'y' },
      { a: 'y', b: 'x' },
    ]
    expect(byBody({ r: { a: ['x'] }, s: { a: ['y'] } }, { r: rows, s: rows })).toBe(true)
    const orders = [
      {
        id: 1,
        lines: [
          { sku: 'p', paid: true },
          { sku: 'q', paid: false },
        ],
      },
      { id: 2, lines: [{ sku: 'q', paid: true }] },
    ]
    const policy = (id: number, sku: string) => ({ o: { id: [id], lines: { sku: [sku], paid: [true] } } })
    expect(byBody(policy(1, 'p'), { o: orders })).toBe(true)
    expect(byBody(policy(1, 'q'), { o: orders })).toBe(false)
    expect(byBody(policy(2, 'q'), { o: orders })).toBe(true)
  })

  test('a list of values satisfies a clause and its twin in $or by any of them', () => {
    const policy = { a: ['x'], $or: [{ a: ['y'] }, { b: ['z'] }] }
    expect(byBody(policy, { a: ['x', 'y'] })).toBe(true)
    expect(byBody(policy, { a: ['x', 'w'] })).toBe(false)
    expect(byBody(policy, { a: 'x', b: 'z' })).toBe(true)
  })

  test('exists is about leaves: an object or an empty array has none', () => {
    expect(byBody({ a: [{ exists: true }] }, { a: { b: 1 } })).toBe(false)
    expect(byBody({ a: [{ exists: false }] }, { a: { b: 1 } })).toBe(true)
    expect(byBody({ a: [{ exists: true }] }, { a: [] })).toBe(false)
    expect(byBody({ a: [{ exists: false }] }, { a: {} })).toBe(true)
    expect(byBody({ b: ['x'] }, { a: [], b: 'x' })).toBe(true)
  })

  test('exists true wants a value that is neither null nor empty, in long lists too', () => {
    const long = [{ exists: true }, ...[1, 2, 3, 4].map((n) => `other ${n}`)]
    for (const list of [[{ exists: true }], long]) {
      for (const nothing of [null, '', [null], [''], [null, '', []]]) {
        expect(byBody({ a: list }, { a: nothing }), JSON.stringify(nothing)).toBe(false)
        expect(byBody({ a: [{ exists: false }] }, { a: nothing })).toBe(false)
      }
      for (const something of ['x', 0, false, [null, 'x'], ' ']) {
        expect(byBody({ a: list }, { a: something }), JSON.stringify(something)).toBe(true)
      }
    }
    expect(byBody({ a: [{ exists: true }, null] }, { a: null })).toBe(true)
  })

  test('nothing is missing in an empty body', () => {
    expect(byBody({ a: [{ exists: false }] }, {})).toBe(false)
    expect(byBody({ a: [{ exists: false }] }, { b: null })).toBe(true)
  })

  test('[91] $or wants one of its objects; with a reserved word in one it is an ordinary key', () => {
    const policy = { a: ['x'], $or: [{ b: ['1'] }, { c: { d: [{ numeric: ['>', 3] }] } }] }
    expect(byBody(policy, { a: 'x', b: '1' })).toBe(true)
    expect(byBody(policy, { a: 'x', c: { d: 4 } })).toBe(true)
    expect(byBody(policy, { a: 'x', c: { d: 3 } })).toBe(false)
    expect(byBody(policy, { b: '1' })).toBe(false)
    expect(byBody({ $or: [{ prefix: 'x' }, { suffix: 'y' }] }, { $or: 'xa' })).toBe(true)
  })

  test('keys without a name, and keys of JavaScript’s own, are keys as others', () => {
    expect(byBody({ a: { '': ['x'] } }, { a: { '': 'x' } })).toBe(true)
    expect(byBody({ '': ['x'] }, { '': 'x' })).toBe(true)
    expect(byBody({ constructor: [{ exists: true }] }, { a: 'x' })).toBe(false)
    const message = '{"__proto__":{"a":"x"}}'
    expect(verdict({ '__proto__.a': ['x'] }, 'MessageBody', { message })).toBeNull()
  })

  test('very deep bodies end somewhere', () => {
    const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
    expect(verdict({ b: ['x'] }, 'MessageBody', { message: deep })).toBe('MessageBody')
  })
})

describe('wildcards', () => {
  test.each([
    ['*ball*', 'football', true],
    ['*ball*', 'ball', true],
    ['a*', 'a', true],
    ['a*b', 'ab', true],
    ['a*b', 'a', false],
    ['aa*aa', 'aaa', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'acb', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a\\\\b', 'a\\b', true],
    ['plain', 'plain', true],
  ])('%s and %s: %s', (pattern, value, expected) => {
    expect(byAttributes({ a: [{ wildcard: pattern }] }, { a: text(value) })).toBe(expected)
  })

  test('a pattern of pieces matches as the regular expression that it stands for', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 })
    const pieces = fc
      .array(piece, { minLength: 2, maxLength: 4 })
      .filter((all) => all.slice(1, -1).every((p) => p !== ''))
    fc.assert(
      fc.property(pieces, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), (all, value) => {
        const policy = { k: [{ wildcard: all.join('*') }] }
        expect(byAttributes(policy, { k: text(value) })).toBe(new RegExp(`^${all.join('.*')}$`).test(value))
      }),
    )
  })
})

describe('refusals', () => {
  const refusalOf = (policy: unknown, scope: FilterPolicyScope = 'MessageAttributes') => {
    try {
      parseFilterPolicy(policy as Policy, scope)
      return undefined
    } catch (error) {
      if (error instanceof FilterPolicyError) return error
      throw error
    }
  }
  const refusal = (policy: unknown, scope?: FilterPolicyScope) =>
    refusalOf(policy, scope)?.message ?? 'accepted'
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ['v']]))
  const values = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`)

  const tooComplex = (found: string, max: number) =>
    `Filter policy is too complex: found ${found}, the limit is ${max}`

  test('a limit with a text of SNS has that message, with the found value beside it', () => {
    const or = (count: number) => Array.from({ length: count }, () => ({ a: values(4), b: values(4) }))
    for (const [policy, message, found] of [
      [keys(6), 'Filter policy can not have more than 5 keys', 'found 6 keys, the limit is 5'],
      [
        { a: values(151) },
        'Filter policy is too complex',
        'found 151 combinations of values, the limit is 150',
      ],
      [
        { $or: or(100), c: values(3) },
        'Filter policy is too complex',
        'found 4800 combinations of values, the limit is 150',
      ],
    ] as const) {
      const error = refusalOf(policy)
      expect([error?.message, error?.explained]).toEqual([message, `${message}: ${found}`])
    }
  })

  test('a policy of more than 256 KB', () => {
    const policy = { a: ['x'.repeat(262_144)] }
    expect(refusal(policy)).toBe('Filter policy is too large: found 262154 bytes, the limit is 262144')
  })

  test('objects nested deeper than any body needs', () => {
    const nested = (depth: number): Policy => (depth === 0 ? { b: ['x'] } : { a: nested(depth - 1) })
    expect(refusal(nested(150), 'MessageBody')).toBe(tooComplex('101 levels of nested objects', 100))
  })

  test('[93] six keys are too many', () => {
    expect(refusal(keys(5))).toBe('accepted')
    expect(refusal(keys(6))).toBe('Filter policy can not have more than 5 keys')
    expect(refusal({ a: keys(6) }, 'MessageBody')).toBe('Filter policy can not have more than 5 keys')
  })

  test('[94] more than 150 combinations are too complex', () => {
    expect(refusal({ a: values(15), b: values(10) })).toBe('accepted')
    expect(refusal({ a: values(151) })).toBe('Filter policy is too complex')
    expect(refusal({ a: values(4), b: { c: { d: values(2) } }, e: { f: values(2) } }, 'MessageBody')).toBe(
      'accepted',
    )
    const nested = { a: { b: { c: values(4) } }, d: { e: values(3) }, f: values(3) }
    expect(refusal(nested, 'MessageBody')).toBe('Filter policy is too complex')
    expect(refusal({ $or: [{ a: values(75) }, { b: values(75) }] })).toBe('accepted')
    expect(refusal({ $or: [{ a: values(75) }, { b: values(77) }] })).toBe('Filter policy is too complex')
  })

  test('wildcards are counted by their points', () => {
    const wildcards = (count: number) => values(count).map((value) => ({ wildcard: `*${value}` }))
    expect(refusal({ a: wildcards(10) })).toBe('accepted')
    expect(refusal({ a: wildcards(11) })).toBe(tooComplex('121 points of wildcards', 100))
    expect(refusal({ a: [{ wildcard: 'a*b*c*d*e' }] })).toBe(tooComplex('4 wildcards in a pattern', 3))
  })

  test('patterns inside of anything-but count as values', () => {
    const but = (inner: unknown) => refusal({ a: [{ 'anything-but': inner }] })
    const inner = (found: number) =>
      tooComplex(`${found} combinations of values, those inside anything-but included`, 150)
    expect([but(values(150)), but(values(151))]).toEqual(['accepted', inner(151)])
    for (const op of ['prefix', 'suffix', 'equals-ignore-case']) {
      expect(but({ [op]: values(150) })).toBe('accepted')
      expect(but({ [op]: values(151) })).toBe(inner(151))
    }
    const both = (count: number) => ({ a: [{ 'anything-but': values(15) }], b: values(count) })
    expect([refusal(both(10)), refusal(both(11))]).toEqual(['accepted', inner(165)])
  })

  test('a policy takes a bounded number of passes over the values of a body', () => {
    const or = (count: number, of: (n: number) => unknown) => ({
      $or: Array.from({ length: count }, (_, n) => of(n)),
    })
    const flat = (n: number) => ({ a: [{ prefix: `p${n}` }], b: ['x'] })
    const exact = (n: number) => ({ a: [`v${n}`], b: [`w${n}`] })
    const bothOf = (n: number) => ({ a: [`v${n}`], b: ['x'] })
    expect(refusal(or(10, flat))).toBe('accepted')
    expect(refusal(or(11, flat))).toBe(tooComplex('11 passes over the values of a body', 10))
    expect(refusal(or(150, exact))).toBe('accepted')
    expect(refusal({ r: or(4, bothOf) }, 'MessageBody')).toBe('accepted')
    expect(refusal({ r: or(5, bothOf) }, 'MessageBody')).toBe(
      tooComplex('11 passes over the values of a body', 10),
    )
  })

  test('a policy that was accepted before these bounds is matched as ever', () => {
    const entries = Array.from({ length: 3_000 }, (_, i) => `Entry ${i}`)
    const policy = { a: [{ 'anything-but': { 'equals-ignore-case': entries } }] }
    expect(refusal(policy)).toContain('found 3000 combinations')
    const filter = compileFilter({ filterPolicy: policy })
    const matches = (value: string) =>
      matchesFilter(
        filter,
        filterSubject({ message: 'x', attributes: { a: text(value) } }, 'MessageAttributes'),
      )
    expect([matches('ENTRY 2999'), matches('entry 3000')]).toEqual([false, true])
  })

  test('a path of more names than any body needs, and a rule of more clauses than keys', () => {
    expect(refusal({ [Array(101).fill('a').join('.')]: ['x'] }, 'MessageBody')).toBe(
      tooComplex('101 names in a key', 100),
    )
    const nested = (depth: number): Policy =>
      depth === 0 ? { b: ['x'] } : { a: ['x'], $or: [nested(depth - 1), { b: ['y'] }] }
    expect(refusal(nested(9))).toBe('accepted')
    expect(refusal(nested(10))).toBe(tooComplex('11 keys in a combination of $or', 10))
  })

  test('[95] a nested policy needs the scope MessageBody', () => {
    const text = 'Filter policy scope MessageAttributes does not support nested filter policy'
    expect(refusal({ a: { b: ['x'] } })).toBe(text)
  })

  test('[96][97][98] name a missing list, an empty one, and an unknown operator', () => {
    expect(refusal({ a: 'x' })).toBe('"a" must be an object or an array')
    expect(refusal({ a: [] })).toBe('Empty arrays are not allowed')
    expect(refusal({ a: [{ like: 'x' }] })).toBe('Unrecognized match type like')
  })

  test.each([
    ['{', /^failed to parse JSON\. /],
    ['[]', /^failed to parse JSON\. /],
    [{ a: [['x']] }, 'Match value must be String, number, true, false, or null'],
    [{ a: [{}] }, 'Empty objects are not allowed'],
    [{ $or: [{ a: ['x'] }, {}] }, 'Empty objects are not allowed'],
    [{ a: [{ prefix: 'a', suffix: 'b' }] }, 'Only one key allowed in match expression'],
    [{ a: [{ prefix: 1 }] }, 'prefix match pattern must be a string'],
    [{ a: [{ suffix: null }] }, 'suffix match pattern must be a string'],
    [{ a: [{ wildcard: 1 }] }, 'wildcard match pattern must be a string'],
    [{ a: [{ 'equals-ignore-case': 1 }] }, 'equals-ignore-case match pattern must be a string'],
    [{ a: [{ cidr: 1 }] }, 'prefix match pattern must be a string'],
    [{ a: [{ cidr: '10.0.0.0' }] }, "Malformed CIDR, one '/' required"],
    [{ a: [{ cidr: '10.0.0.0/x' }] }, 'Malformed CIDR, mask bits must be an integer'],
    [{ a: [{ cidr: 'x/8' }] }, 'Nonstandard IP address: x'],
    [{ a: [{ cidr: '10.0.0.0/33' }] }, 'IPv4 mask bits must be < 32'],
    [{ a: [{ cidr: '::/129' }] }, 'IPv6 mask bits must be < 128'],
    [{ a: [{ cidr: '10.0.0.0/-1' }] }, 'Malformed CIDR, mask bits must not be negative'],
    [{ a: [{ numeric: [] }] }, 'Invalid member in numeric match: ]'],
    [{ a: [{ numeric: [5] }] }, 'Invalid member in numeric match: 5'],
    [{ a: [{ numeric: ['!', 5] }] }, 'Unrecognized numeric range operator: !'],
    [{ a: [{ numeric: ['='] }] }, 'Value of equals must be numeric'],
    [{ a: [{ numeric: ['<', 'x'] }] }, 'Value of < must be numeric'],
    [{ a: [{ numeric: ['=', 1, '<', 2] }] }, 'Too many elements in numeric expression'],
    [{ a: [{ numeric: ['>', 1, 5, 2] }] }, 'Bad value in numeric range: 5'],
    [{ a: [{ numeric: ['>', 1, '>', 2] }] }, 'Bad numeric range operator: >'],
    [{ a: [{ numeric: ['>', 2, '<', 2] }] }, 'Bottom must be less than top'],
    [{ a: [{ numeric: ['>', 1, '<', 2, 'x'] }] }, 'Too many terms in numeric range expression'],
    [{ a: [{ exists: 'yes' }] }, 'exists match pattern must be either true or false.'],
    [{ a: [{ 'anything-but': { cidr: 'x' } }] }, 'Unsupported anything-but pattern: cidr'],
    [
      { a: [{ 'anything-but': ['x', 1] }] },
      /^Inside anything but list, either all values are number or string/,
    ],
    [{ a: [{ 'anything-but': [] }] }, 'Empty arrays are not allowed'],
  ])('%j is refused in the words of SNS', (policy, expected) => {
    expect(refusal(policy)).toMatch(expected)
  })
})

test('equal parts of many filters exist once, and long texts have their weight', () => {
  const compiler = new FilterCompiler()
  const compile = (filterPolicy: Policy, filterPolicyScope: FilterPolicyScope) =>
    inOneGo(compiler.compile({ filterPolicy, filterPolicyScope })).value
  const shared = { type: ['created'], size: [{ numeric: ['>', 5] }] }
  const first = compile({ ...shared, tenant: ['a'] }, 'MessageBody')
  expect(compile({ ...shared, tenant: ['a'] }, 'MessageBody')).toBe(first)
  expect(compile({ ...shared, tenant: ['a'] }, 'MessageAttributes')).not.toBe(first)
  const before = compiler.bytes
  const second = compile({ ...shared, tenant: ['b'] }, 'MessageBody')
  expect(second.rules[0]?.slice(0, 2)).toEqual(first.rules[0]?.slice(0, 2))
  expect(second.rules[0]?.[0]).toBe(first.rules[0]?.[0])
  const perFilter = compiler.bytes - before
  compile({ ...shared, tenant: ['x'.repeat(10_000)] }, 'MessageBody')
  expect(compiler.bytes - before).toBeGreaterThan(2 * perFilter + 10_000)
})

test('a message of 16 KB is the largest that counts as small', () => {
  expect(parsedBytes(16_384)).toBe(PARSED_SMALL_BYTES_MAX)
})

describe('event types that a subscription has chosen', () => {
  const typed = (value: MessageAttribute | undefined, more: Attributes = {}) =>
    value ? { eventType: value, ...more } : more
  const gets = (filtering: Filtering, attributes: Attributes, message = 'x') => {
    const filter = compileFilter(filtering)
    const subject = filterSubject({ message, attributes }, scopeOf(filtering))
    const found: number[] = []
    const index = FilterIndex.of([null, filter])
    index.match(subject, (n) => found.push(n))
    const inSteps: number[] = []
    inOneGo(index.matchInSteps(subject, (n) => inSteps.push(n)))
    expect([found.length > 0, inSteps.length > 0]).toEqual(Array(2).fill(matchesFilter(filter, subject)))
    return found.length > 0
  }

  test.each([
    [['order.paid'], 'order.paid', true],
    [['order.paid'], 'order.paid.late', false],
    [['order.*'], 'order.paid.late', true],
    [['order.*'], 'order', false],
    [['order.*'], 'orders.paid', false],
    [['invoice.sent', 'order.*'], 'order.paid', true],
    [['*'], 'anything', true],
    [['*'], undefined, false],
  ])('%j: a message of the type %s is among them: %s', (eventTypes, name, expected) => {
    expect(gets({ eventTypes }, typed(name === undefined ? undefined : text(name), { a: text('x') }))).toBe(
      expected,
    )
  })

  test('only a String attribute is a type, and the others count as none', () => {
    for (const other of [number('5'), list('["order.paid"]'), { type: 'String.kind', value: 'order.paid' }])
      expect(gets({ eventTypes: ['order.paid', '5', '*'] }, typed(other))).toBe(false)
  })

  test.each(['MessageAttributes', 'MessageBody'] as const)('they hold beside a policy on %s', (scope) => {
    const filtering = {
      filterPolicy: { a: ['x'], $or: [{ b: ['y'] }, { c: ['z'] }] },
      filterPolicyScope: scope,
      eventTypes: ['order.*'],
    }
    const asked = (name: string, members: Record<string, string>) => {
      const attributes =
        scope === 'MessageBody'
          ? {}
          : Object.fromEntries(Object.entries(members).map(([k, v]) => [k, text(v)]))
      return gets(filtering, typed(text(name), attributes), JSON.stringify(members))
    }
    expect(asked('order.paid', { a: 'x', c: 'z' })).toBe(true)
    expect(asked('invoice.paid', { a: 'x', c: 'z' })).toBe(false)
    expect(asked('order.paid', { a: 'x' })).toBe(false)
  })

  test('a body that names a type itself, and a missing key, change nothing', () => {
    const filtering = {
      filterPolicy: { b: [{ exists: false }] },
      filterPolicyScope: 'MessageBody' as const,
      eventTypes: ['order.*'],
    }
    expect(gets(filtering, {}, '{"eventType":"order.paid"}')).toBe(false)
    expect(gets(filtering, typed(text('order.paid')), '{"eventType":"x"}')).toBe(true)
    expect(gets(filtering, typed(text('order.paid')), '{}')).toBe(false)
  })

  test('an explanation names them first', () => {
    const filtering = { eventTypes: ['order.*'], filterPolicy: { a: ['x'] } }
    const message = { message: 'x', attributes: typed(text('invoice.paid'), { a: text('x') }) }
    expect(inOneGo(explainFilter(filtering, message)).value).toEqual({
      matched: false,
      reason: 'MessageAttributes',
      clauses: [
        { path: 'eventType', condition: ['order.*'], matched: false, value: 'invoice.paid' },
        { path: 'a', condition: ['x'], matched: true, value: 'x' },
      ],
    })
  })
})
