/** Policies, bodies and attributes in which the same few keys and values meet each other often. */
import type { MessageAttribute } from '@fantail/contracts'
import fc from 'fast-check'
import { compileFilter } from './compiled-filter.ts'

export type Policy = Record<string, unknown>
export type Scalar = string | number | boolean | null

const texts = ['a', 'b', 'ab', 'ba', 'B', 'aB', 'abab', '10.0.0.1', '10.0.0.9', '::1', '0:0::1']
const word = fc.constantFrom('a', 'b', 'ab', 'B')
const condition = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...texts, 1, 2, 3, null, true, false) },
  fc.record({ prefix: fc.constantFrom('', 'a', 'ab', 'B', '10') }),
  fc.record({ suffix: fc.constantFrom('', 'b', 'ab', '1') }),
  fc.record({ prefix: fc.record({ 'equals-ignore-case': word }) }),
  fc.record({ 'equals-ignore-case': word }),
  fc.record({ wildcard: fc.constantFrom('a*', '*b', '*a*', 'a*b', '*', 'ab') }),
  fc.record({ 'anything-but': fc.array(word, { minLength: 1, maxLength: 2 }) }),
  fc.record({ 'anything-but': fc.constantFrom<unknown>(1, [2, 3], { prefix: 'a' }, { suffix: ['b'] }) }),
  fc.record({ exists: fc.boolean() }),
  fc.record({
    numeric: fc.constantFrom(['=', 1], ['<', 2], ['>=', 2], ['>', 1, '<=', 3], ['>=', 0, '<', 1]),
  }),
  fc.constant({ cidr: '10.0.0.0/29' }),
)
const conditions = fc.array(condition, { minLength: 1, maxLength: 3 })
const keys = (...names: string[]) => fc.dictionary(fc.constantFrom(...names), conditions)
export const flat = keys('k', 'l', 'm')
export const choice = fc
  .tuple(keys('k', 'l'), keys('l', 'm'), keys('k', 'm'))
  .map(([a, b, c]) => ({ ...a, $or: [b, c] }))
export const nested = fc
  .tuple(keys('k', 'r.k'), keys('k', 's.l', 'm'), keys('l'))
  .map(([top, inner, other]) => ({
    ...top,
    ...(count(inner) && { r: inner }),
    ...(count(other) && { 'r.s': other }),
  }))

const scalar = fc.oneof(fc.constantFrom(...texts), fc.constantFrom(1, 2, 1.5, 3, null, true, ''))
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('object'), tie('list')),
  object: fc.dictionary(fc.constantFrom('k', 'l', 'm', 's', 's.l', 'r'), tie('tree'), { maxKeys: 3 }),
  list: fc.array(tie('tree'), { maxLength: 3 }),
}))
export const body = fc.dictionary(fc.constantFrom('k', 'l', 'm', 'r', 'r.k', 'r.s'), tree, { maxKeys: 4 })

export const decimal = (value: string): MessageAttribute => ({ type: 'Number', value })
const attribute: fc.Arbitrary<MessageAttribute> = fc.oneof(
  fc.constantFrom(...texts).map((value) => ({ type: 'String', value })),
  fc.constantFrom(1, 1.5, 2, 3).map((value) => decimal(value.toFixed(1))),
  fc.array(scalar, { maxLength: 3 }).map((value) => ({ type: 'String.Array', value: JSON.stringify(value) })),
)
export const attributes = fc.dictionary(fc.constantFrom('k', 'l', 'm'), attribute)

function count(object: object): number {
  return Object.keys(object).length
}

function isAccepted(policy: Policy): boolean {
  try {
    return compileFilter({ filterPolicy: policy, filterPolicyScope: 'MessageBody' }) !== undefined
  } catch {
    return false
  }
}

export const several = (policy: fc.Arbitrary<Policy>) =>
  fc.array(policy.filter(isAccepted), { minLength: 1, maxLength: 12 })
