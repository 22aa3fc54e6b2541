/**
 * One condition of a filter policy: one alternative in a key's list (checklist 78 to 92). It is checked against one
 * value: a leaf of a JSON body, an attribute, or an element of a String.Array. A ConditionSet checks long lists at
 * once.
 */
import { addressKey } from './addresses.ts'
import { foldCase } from './fold-case.ts'
import { matchesWildcard, type Wildcard } from './wildcard.ts'

export type Scalar = string | number | boolean | null

export type Condition =
  /** `address`: the key of addresses.ts, if the text is an IP address. */
  | { op: 'string'; value: string; address: string | undefined }
  | { op: 'number'; value: number }
  | { op: 'literal'; value: boolean | null }
  | { op: 'prefix' | 'suffix'; value: string; ignoreCase: boolean }
  /** `value` folded (foldCase). */
  | { op: 'equals-ignore-case'; value: string }
  | { op: 'wildcard'; pattern: Wildcard }
  | { op: 'anything-but'; values: ReadonlySet<Scalar> }
  | { op: 'anything-but-any'; patterns: Conditions }
  | { op: 'numeric'; low: Bound | undefined; high: Bound | undefined }
  | { op: 'exists'; value: boolean }
  /** First and last address of the block. */
  | { op: 'cidr'; low: string; high: string }

/** The conditions of a key, one of which must hold (condition-list.ts). */
export interface Conditions {
  readonly conditions: readonly Condition[]
  /** The cost of checking one value, compared with one look-up. */
  readonly steps: number
  /** Whether it searches within values. The length of a value then counts too. */
  readonly searches: boolean
  /** The number of patterns, including those inside of `anything-but`. */
  readonly patterns: number
  holds(candidate: Candidate): boolean
}

export interface Bound {
  value: number
  inclusive: boolean
}

/**
 * A value of the message with its derived forms. Each form is computed once, because hundreds of filters may need it.
 */
export interface Candidate {
  value: Scalar
  /** The spelling of a Number attribute. */
  text?: string | undefined
  address?: string | null | undefined
  folded?: string | undefined
}

/** Whether a value that is present satisfies the condition. It never satisfies `exists: false`. */
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
      return !condition.patterns.holds(candidate)
    case 'numeric':
      return typeof value === 'number' && isWithin(condition, value)
    case 'exists':
      return condition.value && isSomething(candidate)
    case 'cidr':
      return isInBlock(condition, candidate)
    default:
      return typeof value === 'string' && textHolds(condition, value, candidate)
  }
}

/** Whether the value satisfies `exists: true`: SNS leaves out null and the empty text. */
export function isSomething({ value }: Candidate): boolean {
  return value !== null && value !== ''
}

type TextCondition = Extract<Condition, { op: 'prefix' | 'suffix' | 'equals-ignore-case' | 'wildcard' }>

function textHolds(condition: TextCondition, text: string, candidate: Candidate): boolean {
  switch (condition.op) {
    case 'equals-ignore-case':
      return foldedIn(candidate, text) === condition.value
    case 'wildcard':
      return matchesWildcard(condition.pattern, text)
    default: {
      const subject = condition.ignoreCase ? foldedIn(candidate, text) : text
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

/** The case-folded text of the candidate. `text` is the candidate's value. */
export function foldedIn(candidate: Candidate, text: string): string {
  candidate.folded ??= foldCase(text)
  return candidate.folded
}

export function addressIn(candidate: Candidate): string | undefined {
  if (candidate.address === undefined)
    candidate.address =
      (typeof candidate.value === 'string' ? addressKey(candidate.value) : undefined) ?? null
  return candidate.address ?? undefined
}

function isSameAddress({ address }: { address: string | undefined }, candidate: Candidate): boolean {
  return address !== undefined && addressIn(candidate) === address
}

function isInBlock({ low, high }: { low: string; high: string }, candidate: Candidate): boolean {
  const address = addressIn(candidate)
  return address !== undefined && address.length === low.length && address >= low && address <= high
}
