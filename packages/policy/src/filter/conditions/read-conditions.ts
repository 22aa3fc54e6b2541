/**
 * Reads the list under a policy's key as conditions. Refuses an invalid list with SNS's text (checklist 95 to 98, 100).
 */
import { isObject } from '@fantail/contracts'
import { blockOf, keyOfAddress, parseAddress } from './addresses.ts'
import type { Bound, Condition, Scalar } from './condition.ts'
import { ConditionList } from './condition-list.ts'
import { FilterPolicyError } from './filter-error.ts'
import { foldCase } from './fold-case.ts'
import { parseWildcard } from './wildcard.ts'

const refuse = (message: string): never => {
  throw new FilterPolicyError(message)
}

export function readConditions(list: unknown[]): Condition[] {
  if (list.length === 0) refuse('Empty arrays are not allowed')
  return list.map(readCondition)
}

function readCondition(value: unknown): Condition {
  if (Array.isArray(value)) return refuse('Match value must be String, number, true, false, or null')
  if (typeof value === 'string') return exactly(value)
  if (typeof value === 'number') return { op: 'number', value }
  if (typeof value !== 'object' || value === null) return { op: 'literal', value: value as boolean | null }
  const entries = Object.entries(value)
  const [op, operand] = entries[0] ?? refuse('Empty objects are not allowed')
  if (entries.length > 1) refuse('Only one key allowed in match expression')
  return readOperator(op, operand)
}

function readOperator(op: string, operand: unknown): Condition {
  switch (op) {
    case 'prefix':
    case 'suffix':
      return readEnd(op, operand)
    case 'equals-ignore-case':
      return { op, value: foldCase(textOf(op, operand)) }
    case 'wildcard':
      return { op, pattern: parseWildcard(textOf(op, operand)) }
    case 'anything-but':
      return readAnythingBut(operand)
    case 'numeric':
      return readNumeric(operand)
    case 'exists':
      if (typeof operand !== 'boolean') refuse('exists match pattern must be either true or false.')
      return { op, value: operand === true }
    case 'cidr':
      return { op, ...readCidr(textOf('prefix', operand)) }
    default:
      return refuse(`Unrecognized match type ${op}`)
  }
}

function exactly(value: string): Condition {
  const ip = parseAddress(value)
  return { op: 'string', value, address: ip && keyOfAddress(ip) }
}

function textOf(op: string, operand: unknown): string {
  return typeof operand === 'string' ? operand : refuse(`${op} match pattern must be a string`)
}

/** `{"prefix": "a"}`, or `{"prefix": {"equals-ignore-case": "a"}}`. */
function readEnd(op: 'prefix' | 'suffix', operand: unknown): Condition {
  if (isObject(operand)) {
    const [[inner, text] = ['', undefined], ...more] = Object.entries(operand)
    if (inner !== 'equals-ignore-case') refuse(`Unsupported ${op} pattern: ${inner}`)
    if (more.length > 0) refuse('Only one key allowed in match expression')
    return { op, value: foldCase(textOf(op, text)), ignoreCase: true }
  }
  return { op, value: textOf(op, operand), ignoreCase: false }
}

const NEGATED = ['prefix', 'suffix', 'wildcard', 'equals-ignore-case']

function readAnythingBut(operand: unknown): Condition {
  if (isObject(operand)) {
    const [[op, inner] = ['', undefined], ...more] = Object.entries(operand)
    if (!NEGATED.includes(op)) refuse(`Unsupported anything-but pattern: ${op}`)
    if (more.length > 0) refuse('Only one key allowed in match expression')
    const patterns: unknown[] = Array.isArray(inner) ? inner : [inner]
    if (patterns.length === 0) refuse('Empty arrays are not allowed')
    const conditions = patterns.map((pattern) => readOperator(op, pattern))
    return { op: 'anything-but-any', patterns: new ConditionList(conditions) }
  }
  const values: unknown[] = Array.isArray(operand) ? operand : [operand]
  if (values.length === 0) refuse('Empty arrays are not allowed')
  const types = new Set(values.map((value) => typeof value))
  const valid = types.size === 1 && (types.has('string') || types.has('number'))
  if (!valid) {
    const mixed = [...types].every((type) => type === 'string' || type === 'number')
    refuse(
      mixed
        ? 'Inside anything but list, either all values are number or string, mixed type is not supported'
        : 'Inside anything but list, start|null|boolean is not supported.',
    )
  }
  return { op: 'anything-but', values: new Set(values as Scalar[]) }
}

type Numeric = Extract<Condition, { op: 'numeric' }>

function readNumeric(operand: unknown): Numeric {
  if (!Array.isArray(operand)) return refuse('Value of numeric must be an array.')
  const [first, value, second, end, ...more] = operand as unknown[]
  if (typeof first !== 'string') {
    return refuse(`Invalid member in numeric match: ${operand.length === 0 ? ']' : JSON.stringify(first)}`)
  }
  if (!['=', '<', '<=', '>', '>='].includes(first)) refuse(`Unrecognized numeric range operator: ${first}`)
  const bound: Bound = { value: numberOf(first, value), inclusive: first !== '<' && first !== '>' }
  if (operand.length === 2) return oneTerm(first, bound)
  if (!first.startsWith('>')) refuse('Too many elements in numeric expression')
  if (typeof second !== 'string') refuse(`Bad value in numeric range: ${JSON.stringify(second)}`)
  if (second !== '<' && second !== '<=') refuse(`Bad numeric range operator: ${second}`)
  const high: Bound = { value: numberOf(second as string, end), inclusive: second === '<=' }
  if (bound.value >= high.value) refuse('Bottom must be less than top')
  if (more.length > 0) refuse('Too many terms in numeric range expression')
  return { op: 'numeric', low: bound, high }
}

function oneTerm(operator: string, bound: Bound): Numeric {
  const low = operator.startsWith('<') ? undefined : bound
  const high = operator.startsWith('>') ? undefined : bound
  return { op: 'numeric', low, high }
}

function numberOf(operator: string, value: unknown): number {
  if (typeof value === 'number') return value
  return refuse(`Value of ${operator === '=' ? 'equals' : operator} must be numeric`)
}

function readCidr(text: string): { low: string; high: string } {
  const parts = text.split('/')
  const [host = '', mask = ''] = parts
  if (parts.length !== 2) refuse("Malformed CIDR, one '/' required")
  if (!/^-?\d+$/.test(mask)) refuse('Malformed CIDR, mask bits must be an integer')
  const address = parseAddress(host) ?? refuse(`Nonstandard IP address: ${host}`)
  const bits = Number(mask)
  const most = address.kind() === 'ipv4' ? 32 : 128
  if (bits < 0) refuse('Malformed CIDR, mask bits must not be negative')
  if (bits > most) refuse(`${most === 32 ? 'IPv4' : 'IPv6'} mask bits must be < ${most}`)
  return blockOf(address, bits)
}
