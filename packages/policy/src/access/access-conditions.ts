/**
 * Conditions of access policies: operators on strings, ARNs, booleans, numbers, dates and addresses, with `…IfExists`
 * and the set qualifiers. Every key has one value here, so a qualifier changes nothing. A condition with an unknown
 * operator gives `unknown`. An Allow treats it as not satisfied, and a Deny treats it as satisfied.
 */
import { BlockList, isIP } from 'node:net'
import { isObject } from '@fantail/contracts'

export type ConditionVerdict = 'holds' | 'fails' | 'unknown'

/** `context`: the request's condition keys, in lower case. */
export function conditionsHold(
  condition: unknown,
  context: Readonly<Record<string, string>>,
): ConditionVerdict {
  if (condition === undefined) return 'holds'
  if (!isObject(condition)) return 'unknown'
  const verdicts = Object.entries(condition).flatMap(([operator, keys]): ConditionVerdict[] => {
    if (!isObject(keys)) return ['unknown']
    return Object.entries(keys).map(([key, values]) => {
      const name = key.toLowerCase()
      return verdict(operator, Object.hasOwn(context, name) ? context[name] : undefined, textsOf(values))
    })
  })
  if (verdicts.includes('fails')) return 'fails'
  return verdicts.includes('unknown') ? 'unknown' : 'holds'
}

type Comparison = (value: string, pattern: string) => boolean

const COMPARISONS: Record<string, Comparison> = {
  StringEquals: (value, pattern) => value === pattern,
  StringEqualsIgnoreCase: (value, pattern) => value.toLowerCase() === pattern.toLowerCase(),
  StringLike: isLike,
  // In AWS, ArnEquals and ArnLike do the same.
  ArnEquals: isArnLike,
  ArnLike: isArnLike,
  Bool: (value, pattern) => value.toLowerCase() === pattern.toLowerCase(),
  IpAddress: isWithin,
  ...ordered('Numeric', Number),
  ...ordered('Date', timeOf),
}

/** Operators with a negated form: `Not` stands in the middle of the name, or at its start for addresses. */
const OPERATOR =
  /^(?:For(AnyValue|AllValues):)?(Not(?=Ip))?(String|Arn|Bool|IpAddress|Numeric|Date)(Not)?(\w*?)(IfExists)?$/

function verdict(operator: string, value: string | undefined, patterns: string[]): ConditionVerdict {
  if (operator === 'Null') return patterns.includes(String(value === undefined)) ? 'holds' : 'fails'
  const [, set, before, kind = '', within, rest = '', ifExists] = OPERATOR.exec(operator) ?? []
  const compare = Object.hasOwn(COMPARISONS, kind + rest) ? COMPARISONS[kind + rest] : undefined
  if (compare === undefined) return 'unknown'
  const not = before !== undefined || within !== undefined
  // A missing key differs from every value, so a negated operator is satisfied.
  if (value === undefined) return not || ifExists !== undefined || set === 'AllValues' ? 'holds' : 'fails'
  return patterns.some((pattern) => compare(value, pattern)) === not ? 'fails' : 'holds'
}

function ordered(kind: string, read: (text: string) => number): Record<string, Comparison> {
  return {
    [`${kind}Equals`]: (value, bound) => read(value) === read(bound),
    [`${kind}LessThan`]: (value, bound) => read(value) < read(bound),
    [`${kind}LessThanEquals`]: (value, bound) => read(value) <= read(bound),
    [`${kind}GreaterThan`]: (value, bound) => read(value) > read(bound),
    [`${kind}GreaterThanEquals`]: (value, bound) => read(value) >= read(bound),
  }
}

/** ISO 8601, or seconds since 1970. */
function timeOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text)
}

/** `range` is a block like `203.0.113.0/24`, or one address. */
function isWithin(value: string, range: string): boolean {
  const [address = '', bits] = range.split('/')
  const family = isIP(address)
  if (family === 0 || isIP(value) === 0) return false
  const longest = family === 4 ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits)
  // An empty prefix is invalid. `Number` would read it as 0.
  if ((bits !== undefined && !/^\d{1,3}$/.test(bits)) || prefix > longest) return false
  const list = new BlockList()
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  return list.check(value, isIP(value) === 4 ? 'ipv4' : 'ipv6')
}

const ARN_PARTS = 6

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
