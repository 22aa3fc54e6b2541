import { RANDOM_TIMEOUT_MS, randomRuns } from '@fantail/test-kit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileFilter } from '../compiled-filter.ts'
import { attributes, body, choice, flat, nested, type Policy, several } from '../filter.fixture.ts'
import { type FilterSubject, filterSubject } from '../filter-subject.ts'
import { inOneGo } from '../match-work.ts'
import { FilterIndex, Visited } from './filter-index.ts'
import { FilterRouter } from './filter-router.ts'

type Scope = FilterSubject['scope']

function found(router: FilterRouter, subject: FilterSubject): number[] {
  const numbers: number[] = []
  router.find(subject, (n) => numbers.push(n))
  return numbers.toSorted((a, b) => a - b)
}

function matches(index: FilterIndex, subject: FilterSubject): boolean {
  let count = 0
  index.match(subject, () => count++)
  return count > 0
}

/** Adds the first halves of the lists, replaces every second one, and checks which indexes are found. */
function expectEveryMatch(lists: Policy[][], scope: Scope, subject: FilterSubject): void {
  const indexOf = (policies: Policy[]) =>
    FilterIndex.of(policies.map((each) => compileFilter({ filterPolicy: each, filterPolicyScope: scope })))
  const router = new FilterRouter()
  const before = lists.map((policies) => indexOf(policies.slice(0, policies.length >> 1)))
  for (const [n, index] of before.entries()) router.add(n, index)
  const now = lists.map((policies, n) => (n % 2 === 0 ? indexOf(policies) : (before[n] as FilterIndex)))
  for (const [n, index] of now.entries()) {
    if (index === before[n]) continue
    router.remove(n, before[n] as FilterIndex)
    router.add(n, index)
  }
  const numbers = found(router, subject)
  expect(numbers).toEqual([...new Set(numbers)])
  expect([...inOneGo(router.findInSteps(subject)).value].toSorted((a, b) => a - b)).toEqual(numbers)
  expect(numbers).toEqual(
    expect.arrayContaining([...now.keys()].filter((n) => matches(now[n] as FilterIndex, subject))),
  )
  for (const [n, index] of now.entries()) router.remove(n, index)
  expect(found(router, subject)).toEqual([])
}

const lists = (policies: fc.Arbitrary<Policy[]>) => fc.array(policies, { minLength: 1, maxLength: 5 })

test(
  'every index whose filters match a body is found, after any changes',
  () => {
    fc.assert(
      fc.property(lists(several(fc.oneof(flat, choice, nested))), body, (policies, document) => {
        const subject = filterSubject({ message: JSON.stringify(document) }, 'MessageBody')
        expectEveryMatch(policies, 'MessageBody', subject)
      }),
      { numRuns: randomRuns(250, 0.1) },
    )
  },
  RANDOM_TIMEOUT_MS,
)

test(
  'every index whose filters match attributes is found, after any changes',
  () => {
    fc.assert(
      fc.property(lists(several(fc.oneof(flat, choice))), attributes, (policies, given) => {
        const subject = filterSubject({ message: 'x', attributes: given }, 'MessageAttributes')
        expectEveryMatch(policies, 'MessageAttributes', subject)
      }),
      { numRuns: randomRuns(250, 0.1) },
    )
  },
  RANDOM_TIMEOUT_MS,
)

const hundred = Array.from({ length: 100 }, (_, n) => n)
const text = (value: string) => ({ type: 'String', value })

test('among indexes that differ in a text, only those of that text are found', () => {
  const router = new FilterRouter()
  for (const n of hundred) {
    const policies = [`a${n}`, `b${n}`, `c${n}`, 'shared'].map((key) => ({ type: ['created'], key: [key] }))
    router.add(n, FilterIndex.of(policies.map((policy) => compileFilter({ filterPolicy: policy }))))
  }
  const of = (key: string) => {
    const given = { type: text('created'), key: text(key) }
    return found(router, filterSubject({ message: 'x', attributes: given }, 'MessageAttributes'))
  }
  expect([of('a7'), of('b99'), of('c0'), of('none')]).toEqual([[7], [99], [0], []])
  expect(of('shared')).toEqual(hundred)
})

test('numbers of earlier rounds mean nothing, also after the rounds began again', () => {
  const visited = new Visited(2, 2 ** 32 - 2)
  const round = () => {
    visited.next()
    return [visited.isNew(0), visited.isNew(0), visited.isNew(1)]
  }
  for (let i = 0; i < 3; i++) expect(round()).toEqual([true, false, true])
  visited.grow(5)
  expect([visited.isNew(0), visited.isNew(4), visited.isNew(4)]).toEqual([false, true, false])
})
