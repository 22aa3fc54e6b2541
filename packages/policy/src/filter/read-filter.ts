/**
 * Reads a filter policy as rules. A policy matches if one rule matches, and a rule if each of its clauses is satisfied.
 * Keys become dotted paths, and `$or` is multiplied out. The limits (checklist 93, 94) keep the number of rules small.
 */
import { type FilterPolicy, type FilterPolicyScope, isObject, parseBounded } from '@fantail/contracts'
import type { Condition } from './conditions/condition.ts'
import { ConditionList } from './conditions/condition-list.ts'
import { ConditionSet } from './conditions/condition-set.ts'
import { FilterPolicyError, holdTo, type Limit, TOO_COMPLEX } from './conditions/filter-error.ts'
import { readConditions } from './conditions/read-conditions.ts'
import { wildcardPoints } from './conditions/wildcard.ts'
import { type Clause, isExact, type Rule, togetherIn } from './filter-rules.ts'

const POLICY_BYTES: Limit = { what: 'bytes', max: 262_144, text: 'Filter policy is too large' }
const KEYS: Limit = {
  what: 'keys',
  max: 5,
  text: 'Filter policy can not have more than 5 keys',
  isRecorded: true,
}
const COMBINATIONS: Limit = {
  what: 'combinations of values',
  max: 150,
  text: TOO_COMPLEX,
  isRecorded: true,
}
/** SNS multiplies the lengths of all arrays. SNS's text for too many patterns inside of `anything-but` is not known. */
const INNER_COMBINATIONS: Limit = {
  what: 'combinations of values, those inside anything-but included',
  max: COMBINATIONS.max,
  text: TOO_COMPLEX,
}
const WILDCARD_POINTS: Limit = { what: 'points of wildcards', max: 100, text: TOO_COMPLEX }
/** Each level and each name of a path may cost one visit of every level of a body. */
const LEVELS: Limit = { what: 'levels of nested objects', max: 100, text: TOO_COMPLEX }
const NAMES: Limit = { what: 'names in a key', max: 100, text: TOO_COMPLEX }
/** A key may occur both next to `$or` and inside of it. Each clause is a bit of a mask (array-consistency.ts). */
const CLAUSES: Limit = { what: 'keys in a combination of $or', max: 10, text: TOO_COMPLEX }
/**
 * The cost limit of a filter, checked when the filter is set. The unit is one pass over the values of a body. A body of
 * 256 KB holds some 45,000 different values, and a pass over them takes about half a millisecond. Within the limit a
 * filter takes at most 10 ms.
 * @limit Passes over a body's values that one filter may cost. Past it: the policy is refused as too complex.
 */
const PASSES_MAX = 10
const PASSES: Limit = { what: 'passes over the values of a body', max: PASSES_MAX, text: TOO_COMPLEX }

/**
 * Reads and checks a policy, given as a text or an object. Throws FilterPolicyError with SNS's text. `{}` is a policy
 * without keys, which matches every message.
 */
export function parseFilterPolicy(
  input: string | Record<string, unknown>,
  scope: FilterPolicyScope,
): FilterPolicy {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  holdTo(POLICY_BYTES, Buffer.byteLength(text))
  const policy = parseObject(text)
  const { rules, innerCombinations } = read(policy, new Reader(scope, new Map()))
  holdTo(INNER_COMBINATIONS, innerCombinations)
  holdTo(PASSES, passesOf(rules))
  return policy
}

/** Clauses by their text, so that filters share equal clauses. */
export type KnownClauses = Map<string, Clause>

/** Reads a stored policy, whose cost was checked when it was set. Throws FilterPolicyError. */
export function readRules(policy: FilterPolicy, scope: FilterPolicyScope, known?: KnownClauses): Rule[] {
  return read(policy, new Reader(scope, known ?? new Map())).rules
}

function read(policy: FilterPolicy, reader: Reader): Read {
  const found = reader.object(policy, [], 1)
  const { rules, combinations } = found
  holdTo(KEYS, reader.keys.size)
  holdTo(COMBINATIONS, combinations)
  holdTo(CLAUSES, Math.max(...rules.map(({ length }) => length)))
  holdTo(WILDCARD_POINTS, reader.wildcardPoints)
  // A grown list has spare capacity. With 100,000 filters, removing this capacity saves memory.
  return { ...found, rules: rules.slice() }
}

function parseObject(text: string): FilterPolicy {
  let parsed: unknown
  try {
    parsed = parseBounded(text)
  } catch (error) {
    throw new FilterPolicyError(`failed to parse JSON. ${(error as Error).message}`)
  }
  if (isObject(parsed)) return parsed
  throw new FilterPolicyError('failed to parse JSON. Filter is not an object')
}

interface Read {
  rules: Rule[]
  combinations: number
  /**
   * The number of combinations if each pattern inside of `anything-but` counts as a value. AWS multiplies the lengths
   * of all arrays.
   */
  innerCombinations: number
}

class Reader {
  readonly keys = new Set<string>()
  wildcardPoints = 0
  readonly #scope: FilterPolicyScope
  readonly #known: KnownClauses

  constructor(scope: FilterPolicyScope, known: KnownClauses) {
    this.#scope = scope
    this.#known = known
  }

  object(policy: Record<string, unknown>, path: string[], depth: number): Read {
    holdTo(LEVELS, depth)
    let rules: Rule[] = [[]]
    let combinations = 1
    let innerCombinations = 1
    for (const [key, value] of Object.entries(policy)) {
      const read =
        key === '$or' && isOr(value) ? this.#or(value, path, depth) : this.#key(key, value, path, depth)
      combinations *= read.combinations
      innerCombinations *= read.innerCombinations
      // If there are more rules than this, there are even more combinations of values. The later check of combinations
      // then refuses the policy.
      const isTooMany = rules.length * read.rules.length > COMBINATIONS.max
      rules = isTooMany ? [] : rules.flatMap((rule) => read.rules.map((more) => [...rule, ...more]))
    }
    return { rules, combinations, innerCombinations }
  }

  #or(branches: Record<string, unknown>[], path: string[], depth: number): Read {
    if (branches.some((branch) => Object.keys(branch).length === 0)) refuseEmpty()
    const reads = branches.map((branch) => this.object(branch, path, depth))
    return {
      rules: reads.flatMap(({ rules }) => rules),
      combinations: reads.reduce((sum, read) => sum + read.combinations, 0),
      innerCombinations: reads.reduce((sum, read) => sum + read.innerCombinations, 0),
    }
  }

  #key(key: string, value: unknown, path: string[], depth: number): Read {
    const inner = [...path, key]
    if (Array.isArray(value)) return this.#clause(value, inner.join('.'), depth)
    if (!isObject(value)) throw new FilterPolicyError(`"${key}" must be an object or an array`)
    if (Object.keys(value).length === 0) refuseEmpty()
    const read = this.object(value, inner, depth + 1)
    // AWS checks the inner object before the outer one: `{"a":{"suffix":"v"}}` is refused because of its suffix.
    if (this.#scope === 'MessageBody') return read
    throw new FilterPolicyError('Filter policy scope MessageAttributes does not support nested filter policy')
  }

  #clause(list: unknown[], path: string, depth: number): Read {
    holdTo(NAMES, path.split('.').length)
    const clause = this.#read(list, path)
    this.keys.add(path)
    this.#countWildcards(clause.list.conditions)
    const innerCombinations = clause.list.patterns * depth
    return { rules: [[clause]], combinations: list.length * depth, innerCombinations }
  }

  #read(list: unknown[], path: string): Clause {
    const text = JSON.stringify([path, list])
    const clause = this.#known.get(text) ?? clauseOf(path, list)
    this.#known.set(text, clause)
    return clause
  }

  /** Points of a field: the sum of its patterns' points, times their number (wildcard.ts). */
  #countWildcards(conditions: readonly Condition[]): void {
    let points = 0
    let patterns = 0
    for (const condition of conditions) {
      if (condition.op === 'wildcard') {
        points += wildcardPoints(condition.pattern)
        patterns++
      } else if (condition.op === 'anything-but-any') {
        const wildcards = condition.patterns.conditions.filter(({ op }) => op === 'wildcard').length
        points += wildcards
        patterns += wildcards
      }
    }
    this.wildcardPoints += points * patterns
  }
}

/** Throws FilterPolicyError. */
export function clauseOf(path: string, list: unknown[]): Clause {
  return { path, list: new ConditionList(readConditions(list)) }
}

function refuseEmpty(): never {
  throw new FilterPolicyError('Empty objects are not allowed')
}

/** If an object in `$or` has one of these field names, `$or` is an ordinary key (checklist 91). */
const RESERVED =
  /^(exactly|equals-ignore-case|prefix|suffix|anything-but|exists|wildcard|numeric|cidr|=|<|<=|>|>=|regex|not-wildcard|not-equals-ignore-case|date-.*|in-date-range|ip-address-.*range)$/

export function isOr(value: unknown): value is Record<string, unknown>[] {
  if (!Array.isArray(value) || value.length < 2) return false
  return value.every((branch) => isObject(branch) && !Object.keys(branch).some((name) => RESERVED.test(name)))
}

/**
 * A value stands under one path, so only the most expensive path counts. All clauses of a path that compare exact
 * values share one pass. Every other clause takes one pass for each kind of condition, and one for each wildcard.
 * Clauses that must hold in one element of an array take one more pass for each clause of each rule.
 */
function passesOf(rules: readonly Rule[]): number {
  const byPath = Map.groupBy(new Set(rules.flat()), ({ path }) => path)
  const most = Math.max(0, ...[...byPath.values()].map(passesOver))
  const together = rules.reduce((sum, rule) => sum + togetherIn(rule).flat().length, 0)
  return most + together
}

function passesOver(clauses: Clause[]): number {
  const others = clauses.filter((clause) => !isExact(clause))
  const passes = others.reduce((sum, { list }) => sum + new ConditionSet(list.conditions).steps, 0)
  return passes + (others.length < clauses.length ? 1 : 0)
}
