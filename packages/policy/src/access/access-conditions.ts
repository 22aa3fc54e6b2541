/**
 * Conditions of access policies: operators on strings, ARNs, booleans, numbers, dates and addresses, with `…IfExists`
 * and the set qualifiers. A condition gives `unknown` if its operator, its key or one of its values cannot be judged.
 * An Allow treats it as not satisfied, and a Deny treats it as satisfied.
 */
import { BlockList, isIP } from 'node:net'
import { isObject } from '@fantail/contracts'
import type { ConditionKeys, ConditionValue } from './condition-keys.ts'

export type ConditionVerdict = 'holds' | 'fails' | 'unknown'

export function conditionsHold(condition: unknown, asked: Asked): ConditionVerdict {
  if (condition === undefined) return 'holds'
  if (!isObject(condition)) return 'unknown'
  const verdicts = Object.entries(condition).flatMap(([operator, wanted]): ConditionVerdict[] => {
    if (!isObject(wanted)) return ['unknown']
    return Object.entries(wanted).map(([key, patterns]) => {
      return verdict(operator, asked.keys(key.toLowerCase()), patternsOf(patterns, asked))
    })
  })
  return allOf(verdicts)
}

/** One that fails decides, whatever cannot be judged. */
export function allOf(verdicts: readonly ConditionVerdict[]): ConditionVerdict {
  if (verdicts.includes('fails')) return 'fails'
  return verdicts.includes('unknown') ? 'unknown' : 'holds'
}

/** undefined: the value or the pattern cannot be read. */
type Comparison = (value: string, pattern: string) => boolean | undefined

const COMPARISONS: Record<string, Comparison> = {
  StringEquals: (value, pattern) => value === pattern,
  StringEqualsIgnoreCase: (value, pattern) => value.toLowerCase() === pattern.toLowerCase(),
  StringLike: isLike,
  // In AWS, ArnEquals and ArnLike do the same.
  ArnEquals: isArnCovered,
  ArnLike: isArnCovered,
  Bool: (value, pattern) => same(truthOf(value), truthOf(pattern)),
  IpAddress: isWithin,
  ...ordered('Numeric', numberOf),
  ...ordered('Date', timeOf),
}

/** Operators with a negated form: `Not` stands in the middle of the name, or at its start for addresses. */
const OPERATOR =
  /^(?:For(AnyValue|AllValues):)?(Not(?=Ip))?(String|Arn|Bool|IpAddress|Numeric|Date)(Not)?(\w*?)(IfExists)?$/

/** A pattern is undefined if it cannot be read. */
type Patterns = readonly (string | undefined)[]

function verdict(operator: string, value: ConditionValue, patterns: Patterns): ConditionVerdict {
  if (value === undefined || patterns.length === 0) return 'unknown'
  if (operator === 'Null') return isEither(patterns, (text) => same(truthOf(text), value === null))
  const [, set, before, kind = '', within, rest = '', ifExists] = OPERATOR.exec(operator) ?? []
  const compare = Object.hasOwn(COMPARISONS, kind + rest) ? COMPARISONS[kind + rest] : undefined
  if (compare === undefined) return 'unknown'
  const isNot = before !== undefined || within !== undefined
  if (value === null) return ifExists || holdsForNone(set, isNot) ? 'holds' : 'fails'
  if (typeof value !== 'string' && set === undefined) return 'unknown'
  const verdicts = [value].flat().map((one) => {
    const found = isEither(patterns, (pattern) => compare(one, pattern))
    return isNot ? opposite(found) : found
  })
  return set === 'AnyValue' ? opposite(allOf(verdicts.map(opposite))) : allOf(verdicts)
}

/** A missing key differs from every value, so a negated operator is satisfied. No value of it is any value. */
function holdsForNone(set: string | undefined, isNot: boolean): boolean {
  return set === 'AllValues' || (isNot && set !== 'AnyValue')
}

export function isEither(
  patterns: Patterns,
  matches: (pattern: string) => boolean | undefined,
): ConditionVerdict {
  const found = patterns.map((pattern) => (pattern === undefined ? undefined : matches(pattern)))
  if (found.includes(true)) return 'holds'
  return found.includes(undefined) ? 'unknown' : 'fails'
}

export function opposite(verdict: ConditionVerdict): ConditionVerdict {
  if (verdict === 'unknown') return verdict
  return verdict === 'holds' ? 'fails' : 'holds'
}

function ordered(kind: string, read: (text: string) => number): Record<string, Comparison> {
  const by = (holds: (value: number, bound: number) => boolean): Comparison => {
    return (text, pattern) => {
      const [value, bound] = [read(text), read(pattern)]
      return Number.isNaN(value) || Number.isNaN(bound) ? undefined : holds(value, bound)
    }
  }
  return {
    [`${kind}Equals`]: by((value, bound) => value === bound),
    [`${kind}LessThan`]: by((value, bound) => value < bound),
    [`${kind}LessThanEquals`]: by((value, bound) => value <= bound),
    [`${kind}GreaterThan`]: by((value, bound) => value > bound),
    [`${kind}GreaterThanEquals`]: by((value, bound) => value >= bound),
  }
}

function numberOf(text: string): number {
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
}

/** Dates of the W3C's profile of ISO 8601. Without an offset, the meaning would depend on the zone of the process. */
const DATE = /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?$/

/** A date, or seconds since 1970. `Date.parse` alone takes many other texts. */
function timeOf(text: string): number {
  if (/^\d{5,}$/.test(text)) return Number(text) * 1_000
  return DATE.test(text) ? Date.parse(text) : Number.NaN
}

function truthOf(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' || (lower === 'false' ? false : undefined)
}

function same(one: boolean | undefined, other: boolean | undefined): boolean | undefined {
  return one === undefined || other === undefined ? undefined : one === other
}

/** `range` is a block like `203.0.113.0/24`, or one address. */
function isWithin(value: string, range: string): boolean | undefined {
  const [address = '', bits] = range.split('/')
  const family = isIP(address)
  if (family === 0 || isIP(value) === 0) return undefined
  const longest = family === 4 ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits)
  // An empty prefix is invalid. `Number` would read it as 0.
  if ((bits !== undefined && !/^\d{1,3}$/.test(bits)) || prefix > longest) return undefined
  const list = new BlockList()
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  return list.check(value, isIP(value) === 4 ? 'ipv4' : 'ipv6')
}

const ARN_PARTS = 6

/** undefined: the pattern is no ARN, such as `*`. It must not make a Deny silent, or an Allow with ArnNotLike wide. */
function isArnCovered(value: string, pattern: string): boolean | undefined {
  return arnParts(pattern).length === ARN_PARTS ? isArnLike(value, pattern) : undefined
}

export function isArnLike(value: string, pattern: string): boolean {
  const [values, patterns] = [arnParts(value), arnParts(pattern)]
  return values.length === patterns.length && values.every((part, i) => isLike(part, patterns[i] ?? ''))
}

/** The parts of an ARN. The last part may contain colons. */
function arnParts(arn: string): string[] {
  const parts = arn.split(':')
  return [...parts.slice(0, ARN_PARTS - 1), parts.slice(ARN_PARTS - 1).join(':')]
}

/** `*` stands for any text, `?` for one character. */
export function isLike(text: string, pattern: string): boolean {
  let [at, from, star, retryAt] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++
      retryAt = at
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === text[at])) {
      from++
      at++
    } else if (star >= 0) {
      from = star + 1
      at = ++retryAt
    } else {
      return false
    }
  }
  while (pattern[from] === '*') from++
  return from === pattern.length
}

export function textsOf(value: unknown): string[] {
  const all: unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  return all.flatMap((item) =>
    typeof item === 'string' || typeof item === 'boolean' || typeof item === 'number' ? [String(item)] : [],
  )
}

/** Patterns of an element, with the keys that they name. One that is no text cannot be read. */
export function patternsOf(value: unknown, asked: Asked): Patterns {
  return [value].flat().map((item: unknown) => {
    const [text] = Array.isArray(item) ? [] : textsOf(item)
    return text === undefined ? undefined : insertKeys(text, asked)
  })
}

export interface Asked {
  keys: ConditionKeys
  hasVariables: boolean
}

/**
 * Policy variables, such as `${aws:username}`: keys of the request inside of patterns. Policies have them from version
 * 2012-10-17 on.
 */
const VARIABLE = /\$\{([^}]*)\}/g

/**
 * The pattern with the values of the keys that it names. undefined: one of them has no single value, or has a wildcard,
 * which would count as part of the pattern.
 */
function insertKeys(pattern: string, { keys, hasVariables }: Asked): string | undefined {
  if (!hasVariables || !pattern.includes('${')) return pattern
  let isReadable = true
  const text = pattern.replace(VARIABLE, (_, key: string) => {
    const value = keys(key.trim().toLowerCase())
    if (typeof value === 'string' && !/[*?]/.test(value)) return value
    isReadable = false
    return ''
  })
  return isReadable ? text : undefined
}
