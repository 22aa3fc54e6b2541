import { expect, test } from 'vitest'
import { AttemptSlots } from './attempt-slots.ts'

function take(slots: AttemptSlots, id: string, wanted: number, cap = 32): number {
  let got = 0
  while (got < wanted && slots.acquire(id, cap)) got++
  return got
}

/** Lets the endpoint answer promptly until the subscription has its full allowance. */
function prove(slots: AttemptSlots, id: string): void {
  for (let i = 0; i < 4; i++) {
    slots.acquire(id, 32)
    slots.release(id, 32, 5)
  }
}

test('a subscription earns its allowance by answering, up to maxInFlight', () => {
  const slots = new AttemptSlots({ attemptsMax: 2_000 })
  expect(take(slots, 'new', 100)).toBe(4)
  prove(slots, 'good')
  expect(take(slots, 'good', 100)).toBe(32)
  prove(slots, 'small')
  expect(take(slots, 'small', 100, 8)).toBe(8)
})

test('the next allowance of a proven subscription is the whole one, after the time of its slower answers', () => {
  const slots = new AttemptSlots({ attemptsMax: 2_000 })
  expect(slots.nextAllowance('new')).toBeUndefined()
  prove(slots, 'good')
  expect(slots.nextAllowance('good')).toEqual({ attempts: 32, inMs: expect.any(Number) })
  take(slots, 'good', 5)
  slots.release('good', 32, 400)
  slots.release('good', 32, 10)
  expect(slots.nextAllowance('good')).toEqual({ attempts: 32, inMs: 380 })
})

test('the time in which an attempt waits for Redis does not count against its endpoint', () => {
  const slots = new AttemptSlots({ attemptsMax: 2_000, roundTripMs: () => 500 })
  expect([slots.redisMs({ protocol: 'sqs' }), slots.redisMs({ protocol: 'https' })]).toEqual([1_000, 0])
  for (const redisMs of [1_000, 0]) {
    slots.acquire('a', 32)
    slots.release('a', 32, 1_100, redisMs)
    expect([slots.isProven('a'), slots.isSlow('a')]).toEqual([true, redisMs === 0])
  }
  expect(slots.nextAllowance('a')).toEqual({ attempts: 8, inMs: 1_100 })
})

test('first attempts leave an eighth of the slots to the lanes', () => {
  const slots = new AttemptSlots({ attemptsMax: 16 })
  prove(slots, 'busy')
  while (slots.acquireFirst('busy', 32));
  expect(slots.inFlight).toBe(14)
  expect(slots.freeForFirst).toBe(0)
  expect(take(slots, 'lane', 3)).toBe(2)
})

test('an endpoint whose attempt outlasts a second keeps at most two until it answers', () => {
  const slots = new AttemptSlots({ attemptsMax: 2_000 })
  prove(slots, 'a')
  expect(take(slots, 'a', 1)).toBe(1)
  slots.hang('a')
  expect(take(slots, 'a', 100)).toBe(1)
  expect(slots.isSlow('a')).toBe(true)
  slots.release('a', 32, 3)
  expect(take(slots, 'a', 100)).toBeGreaterThan(2)
})

test('a subscription that has moved starts like a new one, and keeps the slots in use', () => {
  const slots = new AttemptSlots({ attemptsMax: 100 })
  slots.acquire('a', 32)
  slots.hang('a')
  slots.endpointChanged('a')
  expect([slots.isSlow('a'), slots.isProven('a'), slots.inFlight]).toEqual([false, false, 1])
  expect(take(slots, 'a', 100)).toBe(3)
  prove(slots, 'b')
  slots.endpointChanged('b')
  slots.endpointChanged('unknown')
  expect([slots.isProven('b'), take(slots, 'b', 100)]).toEqual([false, 4])
})

test('a timeout is no answer', () => {
  const slots = new AttemptSlots({ attemptsMax: 2_000 })
  slots.acquire('a', 32)
  slots.hang('a')
  slots.release('a', 32, undefined)
  expect(take(slots, 'a', 100)).toBe(2)
})

test('however many hang, together they hold at most half of the slots', () => {
  const slots = new AttemptSlots({ attemptsMax: 100 })
  let taken = 0
  for (let i = 0; i < 1_000; i++) {
    taken += take(slots, `hung-${i}`, 100)
    slots.hang(`hung-${i}`)
  }
  expect(taken).toBe(50)
  expect(slots.capacity('another', 32)).toBe(0)
})

test('proven subscriptions keep half of the slots though proven ones hang all at once', () => {
  const slots = new AttemptSlots({ attemptsMax: 100 })
  const ids = ['a', 'b', 'c', 'd']
  for (const id of [...ids, 'healthy']) prove(slots, id)
  for (const id of ids) take(slots, id, 100)
  expect(slots.inFlight).toBe(100)
  for (const id of ids) slots.hang(id)
  expect(take(slots, 'healthy', 100)).toBe(32)
})

test('every slot comes back', () => {
  const slots = new AttemptSlots({ attemptsMax: 10 })
  prove(slots, 'a')
  const taken = take(slots, 'a', 100)
  slots.hang('a')
  for (let i = 0; i < taken; i++) slots.release('a', 32, i % 2 === 0 ? 2 : undefined)
  expect(slots.inFlight).toBe(0)
  expect(slots.free).toBe(10)
})

test('a slow answer sends first attempts by the lane for a while', () => {
  let now = 0
  const slots = new AttemptSlots({ attemptsMax: 10, now: () => now })
  slots.acquire('a', 32)
  slots.release('a', 32, 600)
  expect(slots.isSlow('a')).toBe(true)
  now += 6_000
  expect(slots.isSlow('a')).toBe(false)
})

test('an endpoint that answered another worker is proven here too, unless it hangs here', () => {
  const slots = new AttemptSlots({ attemptsMax: 4 })
  expect(take(slots, 'hung', 100)).toBe(2)
  expect(slots.acquire('answers', 32)).toBe(false)
  slots.trust('answers')
  expect(slots.acquire('answers', 32)).toBe(true)
  slots.hang('hung')
  slots.trust('hung')
  expect([slots.isProven('answers'), slots.isProven('hung')]).toEqual([true, false])
})

test('the number in flight is bounded by maxInFlight', () => {
  const slots = new AttemptSlots({ attemptsMax: 100 })
  slots.acquire('one', 1)
  slots.acquire('three', 3)
  expect(new Map(slots.busy())).toEqual(
    new Map([
      ['one', 0],
      ['three', 2],
    ]),
  )
})
