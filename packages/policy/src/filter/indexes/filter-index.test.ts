/** The index and each single filter agree with a third evaluation, written separately for this test. */
import type { MessageAttribute } from '@fantail/contracts'
import { RANDOM_TIMEOUT_MS, randomRuns } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileFilter, matchesFilter } from '../compiled-filter.ts'
import {
  attributes,
  body,
  choice,
  decimal,
  flat,
  nested,
  type Policy,
  type Scalar,
  several,
} from '../filter.fixture.ts'
import { type FilterSubject, filterSubject } from '../filter-subject.ts'
import { inOneGo } from '../match-work.ts'
import { FilterIndex } from './filter-index.ts'

/** A value under its path. `elements`: for each array around it (`<which array>`), the index of its element. */
interface Found {
  path: string
  value: Scalar
  elements: Record<string, number>
}

/** `place` names the array that a value lies in. A value directly in an array is not bound to its own index. */
function valuesOf(value: unknown, path: string, place: string, elements: Record<string, number>): Found[] {
  if (Array.isArray(value)) {
    return value.flatMap((element, i) => {
      const isScalar = typeof element !== 'object' || element === null
      return valuesOf(element, path, `${place}[${i}]`, isScalar ? elements : { ...elements, [place]: i })
    })
  }
  if (typeof value !== 'object' || value === null) return [{ path, value: value as Scalar, elements }]
  return Object.entries(value).flatMap(([key, member]) =>
    valuesOf(member, path === '' ? key : `${path}.${key}`, `${place}/${key}`, elements),
  )
}

interface Message {
  found: Found[]
  /** It has no attribute, or no key in its body. */
  isEmpty: boolean
}

/** The clauses of every combination of alternatives in `$or`. */
function waysThrough(policy: Policy, path: string): [path: string, wanted: unknown[]][][] {
  let ways: [string, unknown[]][][] = [[]]
  for (const [key, value] of Object.entries(policy)) {
    const here = path === '' ? key : `${path}.${key}`
    const more =
      key === '$or'
        ? (value as Policy[]).flatMap((branch) => waysThrough(branch, path))
        : Array.isArray(value)
          ? [[[here, value] as [string, unknown[]]]]
          : waysThrough(value as Policy, here)
    ways = ways.flatMap((way) => more.map((next) => [...way, ...next]))
  }
  return ways
}

function naive(policy: Policy, message: Message): boolean {
  return waysThrough(policy, '').some((clauses) => canChoose(clauses, message, {}))
}

function canChoose(
  [first, ...others]: [path: string, wanted: unknown[]][],
  message: Message,
  chosen: Record<string, number>,
): boolean {
  if (!first) return true
  const [path, wanted] = first
  const here = message.found.filter((each) => each.path === path)
  if (here.length === 0) {
    const isMissing = !message.isEmpty && wanted.some((one) => operandOf(one, 'exists') === false)
    return isMissing && canChoose(others, message, chosen)
  }
  return here.some(({ value, elements }) => {
    if (!wanted.some((one) => naiveHolds(one, value))) return false
    if (Object.entries(elements).some(([array, i]) => (chosen[array] ?? i) !== i)) return false
    return canChoose(others, message, { ...chosen, ...elements })
  })
}

function operandOf(one: unknown, operator: string): unknown {
  return typeof one === 'object' && one !== null ? (one as Policy)[operator] : undefined
}

const V6_ONE = ['::1', '0:0::1']

function naiveHolds(one: unknown, value: Scalar): boolean {
  if (typeof one !== 'object' || one === null)
    return one === value || (V6_ONE.includes(one as string) && V6_ONE.includes(value as string))
  const [[operator, operand] = ['', undefined]] = Object.entries(one)
  if (operator === 'exists') return operand === true && value !== null && value !== ''
  if (operator === 'anything-but') return ![operand].flat().some((but) => naiveExcludes(but, value))
  if (operator === 'numeric') return typeof value === 'number' && naiveNumeric(operand as unknown[], value)
  if (typeof value !== 'string') return false
  if (operator === 'equals-ignore-case') return value.toLowerCase() === (operand as string).toLowerCase()
  if (operator === 'cidr') return /^10\.0\.0\.[0-7]$/.test(value)
  if (operator === 'wildcard') return new RegExp(`^${(operand as string).replaceAll('*', '.*')}$`).test(value)
  const inner = operandOf(operand, 'equals-ignore-case')
  const [text, given] =
    typeof inner === 'string' ? [inner.toLowerCase(), value.toLowerCase()] : [operand, value]
  return operator === 'prefix' ? given.startsWith(text as string) : given.endsWith(text as string)
}

function naiveExcludes(but: unknown, value: Scalar): boolean {
  if (typeof but !== 'object' || but === null) return but === value
  return Object.entries(but).some(([operator, ends]) =>
    [ends].flat().some((end) => naiveHolds({ [operator]: end }, value)),
  )
}

function naiveNumeric([operator, bound, ...others]: unknown[], value: number): boolean {
  const is = { '=': value === bound, '<': value < Number(bound), '<=': value <= Number(bound) }
  const holds = { ...is, '>': value > Number(bound), '>=': value >= Number(bound) }
  return holds[operator as '='] && (others.length === 0 || naiveNumeric(others, value))
}

/** Checks that the index and each single filter agree with the policies, by their positions in the list. */
function expectAgreement(policies: Policy[], subject: FilterSubject, found: Found[]): void {
  const filters = policies.map((policy) =>
    compileFilter({ filterPolicy: policy, filterPolicyScope: subject.scope }),
  )
  const message = { found, isEmpty: subject.names.length === 0 }
  const expected = policies.flatMap((policy, n) => (naive(policy, message) ? [n] : []))
  const indexed: number[] = []
  const index = FilterIndex.of(filters)
  index.match(subject, (n) => indexed.push(n))
  expect(indexed.toSorted((a, b) => a - b)).toEqual(expected)
  const inSteps: number[] = []
  inOneGo(index.matchInSteps(subject, (n) => inSteps.push(n)))
  expect(inSteps.toSorted((a, b) => a - b)).toEqual(expected)
  expect(filters.flatMap((filter, n) => (matchesFilter(filter, subject) ? [n] : []))).toEqual(expected)
}

test(
  'bodies are matched as a naive evaluation of each policy does',
  () => {
    fc.assert(
      fc.property(several(fc.oneof(flat, choice, nested)), body, (policies, document) => {
        const subject = filterSubject({ message: JSON.stringify(document) }, 'MessageBody')
        expectAgreement(policies, subject, valuesOf(document, '', '', {}))
      }),
      { numRuns: randomRuns(500, 0.1) },
    )
  },
  RANDOM_TIMEOUT_MS,
)

test(
  'attributes are matched as a naive evaluation of each policy does',
  () => {
    fc.assert(
      fc.property(several(fc.oneof(flat, choice)), attributes, (policies, given) => {
        const subject = filterSubject({ message: 'x', attributes: given }, 'MessageAttributes')
        const found = Object.entries(given).flatMap(([path, { type, value }]) => {
          const values =
            type === 'String.Array' ? JSON.parse(value) : [type === 'Number' ? Number(value) : value]
          return (values as Scalar[]).map((each) => ({ path, value: each, elements: {} }))
        })
        expectAgreement(policies, subject, found)
      }),
      { numRuns: randomRuns(500, 0.1) },
    )
  },
  RANDOM_TIMEOUT_MS,
)

/** How many filters are checked one by one. An index that checks all of them would be useless. */
function asked(policies: Policy[], attributes: Record<string, MessageAttribute>): number {
  let count = 0
  const filters = policies.map((policy) => {
    const filter = compileFilter({ filterPolicy: policy })
    const { rules } = filter
    const get = () => {
      count++
      return rules
    }
    return Object.defineProperty(filter, 'rules', { get })
  })
  const index = FilterIndex.of(filters)
  count = 0
  index.match(filterSubject({ message: 'x', attributes }, 'MessageAttributes'), () => undefined)
  return count
}

const hundred = Array.from({ length: 100 }, (_, i) => i)
const common = { type: ['created'], size: [{ numeric: ['>=', 0] }] }
const message = (key: MessageAttribute) => ({
  key,
  type: { type: 'String', value: 'created' },
  size: decimal('5'),
})

const text = (value: string): MessageAttribute => ({ type: 'String', value })

test.each<[what: string, of: (i: number) => unknown, value: MessageAttribute]>([
  ['texts', (i) => `v${i}`, text('v7')],
  ['numbers', (i) => i, decimal('7')],
  ['prefixes', (i) => ({ prefix: `v${i}-` }), text('v7-x')],
  ['suffixes', (i) => ({ suffix: `-v${i}` }), text('x-v7')],
  ['wildcards that begin with a text', (i) => ({ wildcard: `v${i}-*x` }), text('v7-x')],
  ['wildcards that end with a text', (i) => ({ wildcard: `*-v${i}` }), text('x-v7')],
  ['texts of any case', (i) => ({ 'equals-ignore-case': `V${i}` }), text('v7')],
  ['ranges', (i) => ({ numeric: ['>', i, '<', i + 1] }), decimal('7.5')],
  ['addresses', (i) => `::${i}`, text('0:0::7')],
])('few filters are asked if all share two keys and differ in %s only', (_what, of, value) => {
  const policies = hundred.map((i) => ({ ...common, key: [of(i)] }))
  expect(asked(policies, message(text('none of them')))).toBe(0)
  expect(asked(policies, message(value))).toBe(1)
})

test('filters that want a key, or that want none, are asked of messages that have it, or have none', () => {
  const wanting = (one: unknown) => hundred.map((i) => ({ key: [one], [`other${i}`]: [one] }))
  for (const one of [{ exists: true }, { 'anything-but': 'x' }, { wildcard: '*x*' }, { cidr: '10.0.0.0/8' }])
    expect(asked(wanting(one), { unrelated: text('10.0.0.1') })).toBe(0)
  const absent = hundred.map(() => ({ key: [{ exists: false }] }))
  expect(asked(absent, { key: text('y') })).toBe(0)
  expect(asked(absent, { other: text('y') })).toBe(100)
})
