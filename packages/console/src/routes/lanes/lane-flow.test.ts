/** Rows that stay while one is open, and conclusions from the figures of a lane. */
import type { Lane, Subscription } from '@fantail/client/api'
import { expect, test } from 'vitest'
import {
  afterGoodTest,
  drainText,
  rateThatDrains,
  rowsInPlace,
  secondsToDrainAt,
  whyNoRetry,
} from './lane-flow.tsx'

const lane = (subscriptionId: string, waiting = 3) => ({ subscriptionId, lane: { waiting } }) as Lane

test('open rows keep their places, take fresh figures, and are marked when they have left the list', () => {
  const before = rowsInPlace([], [lane('a'), lane('b'), lane('c')])
  const after = rowsInPlace(before, [lane('d'), lane('c', 7), lane('a')])
  expect(
    after.map(({ subscriptionId, hasLeft, lane: { waiting } }) => [subscriptionId, hasLeft, waiting]),
  ).toEqual([
    ['a', false, 3],
    ['b', true, 3],
    ['c', false, 7],
    ['d', false, 3],
  ])
  expect(rowsInPlace(after, [lane('b')]).map(({ hasLeft }) => hasLeft)).toEqual([true, false, true, true])
})

const judged = (code: string, facts: object, figures: object) =>
  ({ verdict: { code, facts }, lane: { drainSeconds: 1_600, waiting: 1_600, ...figures } }) as Subscription

test('a lane that takes in more than it sends grows, and a throttle above the arrivals is suggested', () => {
  const slow = judged('tooSlowIn', { arrivalsPerSecond: 3.9, attemptsPerSecond: 1 }, { rate: 1 })
  expect([drainText(slow), rateThatDrains(slow)]).toEqual(['never: grows by 2.9/s', 5])
  const round = judged('tooSlowIn', { arrivalsPerSecond: 4 }, { rate: 1 })
  expect([4, 6, 804].map((rate) => secondsToDrainAt(round, rate))).toEqual([undefined, 800, 2])
  const throttled = judged('throttled', { arrivalsPerSecond: 0.5, attemptsPerSecond: 1 }, { rate: 1 })
  expect([drainText(throttled), rateThatDrains(throttled)]).toEqual(['26 min 40 s', undefined])
})

test('a lane grows if more comes in than succeeds, whatever its verdict, but not by chance', () => {
  const arrivalsPerSecond = 0.8
  // Half of the attempts at 1/s fail, so 0.5/s leave the lane.
  const halfFails = { rate: 1, waiting: 800, drainSeconds: 1_600 }
  expect(drainText(judged('throttled', { arrivalsPerSecond }, halfFails))).toBe('never: grows by 0.3/s')
  expect(drainText(judged('failing', { arrivalsPerSecond }, halfFails))).toBe('never: grows by 0.3/s')
  expect(drainText(judged('catchingUp', { arrivalsPerSecond: 1.05 }, {}))).toBe('26 min 40 s')
  const unknown = { arrivalsPerSecond: null }
  expect(drainText(judged('catchingUp', unknown, {}))).toBe('26 min 40 s')
  expect(drainText(judged('failing', { arrivalsPerSecond }, { drainSeconds: null }))).toBe('–')
})

test('Retry now and the advice after a test depend on what the lane does', () => {
  const failing = { ...judged('failing', {}, {}), status: 'active' } as Subscription
  expect([whyNoRetry(failing), afterGoodTest(failing)]).toEqual([
    undefined,
    'The endpoint works: press Retry now.',
  ])
  const paused = { ...failing, status: 'paused' } as Subscription
  expect([whyNoRetry(paused), afterGoodTest(paused)]).toEqual([
    'Nothing is sent while the lane is paused: press Resume first.',
    'The endpoint works. The lane is paused: press Resume.',
  ])
  const sending = { ...failing, verdict: { code: 'catchingUp' } } as Subscription
  expect(afterGoodTest(sending)).toBe('The endpoint works, and what waits is being sent.')
  const empty = { ...judged('fine', {}, { waiting: 0 }), status: 'active' } as Subscription
  expect(whyNoRetry(empty)).toBe('Retry now has nothing to do: no delivery waits.')
})
