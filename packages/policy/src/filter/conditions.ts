/**
 * One condition of a filter policy: what an alternative in a key's list asks of one value (sns-semantics §3.4). A value is a
 * leaf of a JSON body, an attribute, or an element of a String.Array.
 */
import ipaddr from 'ipaddr.js'
import { matchesWildcard, type Wildcard } from './wildcard.ts'

export type Scalar = string | number | boolean | null

export type Condition =
  /** `address`: the text in its one spelling, where it is an IP address. */
  | { op: 'string'; value: string; address: string | undefined }
  | { op: 'number'; value: number }
  | { op: 'literal'; value: boolean | null }
  | { op: 'prefix' | 'suffix'; value: string; ignoreCase: boolean }
  /** `value` folded (foldCase). */
  | { op: 'equals-ignore-case'; value: string }
  | { op: 'wildcard'; pattern: Wildcard }
  | { op: 'anything-but'; values: ReadonlySet<Scalar> }
  | { op: 'anything-but-any'; conditions: Condition[] }
  | { op: 'numeric'; low: Bound | undefined; high: Bound | undefined }
  | { op: 'exists'; value: boolean }
  | { op: 'cidr'; range: [Ip, number] }

export interface Bound {
  value: number
  inclusive: boolean
}

/** A value of the message, and its own spelling where it is a Number attribute. */
export interface Candidate {
  value: Scalar
  text?: string
  /** addressIn keeps it here: hundreds of filters may ask for it, and to read it takes microseconds. */
  address?: Address | null
}

type Ip = ipaddr.IPv4 | ipaddr.IPv6

interface Address {
  ip: Ip
  /** The one spelling of it (RFC 5952). */
  spelling: string
}

/** Whether one present value satisfies the condition; `exists: false` never does. */
export function holds(condition: Condition, candidate: Candidate): boolean {
  const { value } = candidate
  switch (condition.op) {
    case 'string':
      return (
        value === condition.value || candidate.text === condition.value || isSameAddress(condition, candidate)
      )
    case 'number':
    case 'literal':
      return value === condition.value
    case 'anything-but':
      return (
        !condition.values.has(value) &&
        !(candidate.text !== undefined && condition.values.has(candidate.text))
      )
    case 'anything-but-any':
      return !condition.conditions.some((inner) => holds(inner, candidate))
    case 'numeric':
      return typeof value === 'number' && isWithin(condition, value)
    case 'exists':
      return condition.value
    case 'cidr':
      return isInRange(condition.range, candidate)
    default:
      return typeof value === 'string' && textHolds(condition, value)
  }
}

type TextCondition = Extract<Condition, { op: 'prefix' | 'suffix' | 'equals-ignore-case' | 'wildcard' }>

function textHolds(condition: TextCondition, text: string): boolean {
  switch (condition.op) {
    case 'equals-ignore-case':
      return foldCase(text) === condition.value
    case 'wildcard':
      return matchesWildcard(condition.pattern, text)
    default: {
      const subject = condition.ignoreCase ? foldCase(text) : text
      return condition.op === 'prefix'
        ? subject.startsWith(condition.value)
        : subject.endsWith(condition.value)
    }
  }
}

function isWithin({ low, high }: Extract<Condition, { op: 'numeric' }>, value: number): boolean {
  if (low && (low.inclusive ? value < low.value : value <= low.value)) return false
  return !(high && (high.inclusive ? value > high.value : value >= high.value))
}

/**
 * Two texts that differ in case alone have one folded form. Character by character: the lower case of a whole text depends
 * on neighbours (a sigma that ends a word is another one), and its upper case may be longer.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase()
  if (lower.length === text.length && isAscii(lower)) return lower
  let folded = ''
  for (const character of text) {
    const upper = character.toUpperCase()
    folded += upper.length === character.length ? upper.toLowerCase() : character.toLowerCase()
  }
  return folded
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

/** undefined where the value is no address. */
export function addressIn(candidate: Candidate): Address | undefined {
  if (candidate.address === undefined) {
    const ip = typeof candidate.value === 'string' ? parseAddress(candidate.value) : undefined
    candidate.address = ip ? { ip, spelling: ip.toString() } : null
  }
  return candidate.address ?? undefined
}

export function parseAddress(text: string): Ip | undefined {
  if (text.length > 45 || !/^[\da-fA-F:.]+$/.test(text)) return undefined
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined
}

function isSameAddress({ address }: { address: string | undefined }, candidate: Candidate): boolean {
  return address !== undefined && addressIn(candidate)?.spelling === address
}

function isInRange([network, bits]: [Ip, number], candidate: Candidate): boolean {
  const ip = addressIn(candidate)?.ip
  return ip !== undefined && ip.kind() === network.kind() && ip.match(network as never, bits)
}
