/**
 * The highest cost of a filter. Random accepted policies are matched with bodies of 256 KB that are built against them.
 * The test counts steps, not time. A step takes about 10 ns (docs/filtering.md).
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileFilter } from './compiled-filter.ts'
import { FilterPolicyError } from './conditions/filter-error.ts'
import { filterSubject } from './filter-subject.ts'
import { MatchInSteps } from './match-in-steps.ts'
import { inOneGo } from './match-work.ts'
import { parseFilterPolicy } from './read-filter.ts'

const BODY_BYTES_MAX = 262_144
/** About 10 ms. */
const STEPS_MAX = 1_000_000

const word = fc.constantFrom('', 'a', 'b', 'zz', 'zzq', 'x', 'é', '::1', '1.2.3.4')
const words = fc.array(word, { minLength: 1, maxLength: 10 })
const wildcard = fc.constantFrom('*z*', '*q*z*', 'a*b', 'z*q*z', '*zzq', `*${'a'.repeat(50)}b*c*`)
const condition = fc.oneof(
  word,
  fc.constantFrom<unknown>(1, null, 7),
  fc.record({ prefix: fc.oneof(word, fc.record({ 'equals-ignore-case': word })) }),
  fc.record({ suffix: fc.oneof(word, fc.record({ 'equals-ignore-case': word })) }),
  fc.record({ 'equals-ignore-case': word }),
  fc.record({ wildcard }),
  fc.record({ cidr: fc.constantFrom('9.0.0.0/8', '9::/16') }),
  fc.record({ numeric: fc.constantFrom(['=', 9], ['>', 8, '<', 9]) }),
  fc.record({ exists: fc.boolean() }),
  fc.record({
    'anything-but': fc.oneof(
      words,
      fc.record({ prefix: words }),
      fc.record({ suffix: words }),
      fc.record({ 'equals-ignore-case': words }),
      fc.record({ wildcard: fc.array(wildcard, { minLength: 1, maxLength: 10 }) }),
    ),
  }),
)
const list = fc.array(condition, { minLength: 1, maxLength: 12 })
/** Names that the bodies have, and one that they do not have. */
const name = fc.constantFrom('a', 'b', 'r.a', 'r.b', `r.${Array(98).fill('a').join('.')}`, 'none')
const flat = fc.dictionary(name, list, { minKeys: 1, maxKeys: 5 })
const choice = fc
  .tuple(flat, fc.array(flat, { minLength: 2, maxLength: 20 }))
  .map(([all, $or]) => ({ ...all, $or }))
const nested = fc
  .array(fc.dictionary(fc.constantFrom('a', 'b'), list, { minKeys: 1 }), { minLength: 2, maxLength: 9 })
  .map(($or) => ({ r: { $or } }))
const policy = fc.oneof(flat, choice, nested).filter(isAccepted)

function isAccepted(given: Record<string, unknown>): boolean {
  try {
    return parseFilterPolicy(given, 'MessageBody') !== undefined
  } catch (error) {
    if (error instanceof FilterPolicyError) return false
    throw error
  }
}

/** A body that is filled with these elements, in arrays that filters look into. */
function filled(before: string, elements: (n: number) => string, after: string): string {
  const parts = [before]
  let bytes = before.length + after.length
  for (let n = 0; bytes < BODY_BYTES_MAX - 100; n++) {
    const element = elements(n)
    parts.push(element)
    bytes += Buffer.byteLength(element)
  }
  return parts.join('') + after
}

const BODIES = [
  filled('{"a":[', (n) => `"zz${n.toString(36)}",`, '0]}'),
  filled('{"a":[', (n) => `${n},`, '0]}'),
  filled('{"a":[', (n) => `"::${(n % 65_536).toString(16)}",`, '0]}'),
  filled('{"b":[', (n) => `"é${n.toString(36)}",`, '0]}'),
  filled('{"r":[', () => '{},', '{}]}'),
  filled('{"r":[', (n) => (n % 2 ? '{"a":"x"},' : '{"b":"zz"},'), '{}]}'),
  filled('{"r":[', (n) => (n % 2 ? '[{"a":"x"}],' : '[{"b":"zz"}],'), '{}]}'),
  `{"a":"${'a'.repeat(BODY_BYTES_MAX - 10)}"}`,
]

/** The steps that the policy takes. The policy must be an accepted one. */
function stepsOf(given: Record<string, unknown>, message: string): number {
  expect(isAccepted(given), JSON.stringify(given)).toBe(true)
  const subject = filterSubject({ message }, 'MessageBody')
  return inOneGo(
    new MatchInSteps(subject).matches(
      compileFilter({ filterPolicy: given, filterPolicyScope: 'MessageBody' }),
    ),
  ).steps
}

test('no policy that is accepted takes more than so many steps on any of these bodies', () => {
  fc.assert(
    fc.property(policy, fc.constantFrom(...BODIES), (given, message) => {
      expect(stepsOf(given, message)).toBeLessThan(STEPS_MAX)
    }),
    { numRuns: 40 },
  )
})

const many = (count: number, of: (n: number) => unknown) => Array.from({ length: count }, (_, n) => of(n))

test.each<[what: string, given: Record<string, unknown>]>([
  ['150 texts', { a: many(150, (n) => `zzq${n}`) }],
  ['150 excluded prefixes', { a: [{ 'anything-but': { prefix: many(150, (n) => `${n}`) } }] }],
  ['ten wildcards', { a: many(10, (n) => ({ wildcard: `z*q${n}` })) }],
  ['75 choices of texts', { $or: many(75, (n) => ({ a: [`zzq${n}`], b: ['x'] })) }],
  ['ten choices of prefixes', { $or: many(10, (n) => ({ a: [{ prefix: `q${n}` }], b: ['x'] })) }],
  ['four choices in arrays', { r: { $or: many(4, (n) => ({ a: ['x'], b: ['zz', `${n}`] })) } }],
  ['a path of 99 names', { [`r.${Array(98).fill('a').join('.')}`]: ['x'] }],
  [
    'five paths',
    { 'r.a': [{ exists: false }], 'r.b': [{ exists: false }], 'r.c': ['x'], r: ['x'], a: ['x'] },
  ],
])('%s take no more than that', (_, given) => {
  for (const message of BODIES) expect(stepsOf(given, message)).toBeLessThan(STEPS_MAX)
})
