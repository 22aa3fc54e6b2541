import { expect, test } from 'vitest'
import { type Guest, PushCapacity } from './push-capacity.ts'

function guest(batches = 0, nextBytes = 0): Guest & { batches: number; polled: number } {
  const made = { batches, nextBytes, polled: 0, poll: () => void made.polled++ }
  return made
}

test('further batches leave places for first ones', () => {
  const capacity = new PushCapacity()
  const busy = guest()
  while (capacity.enter(busy)) busy.batches += 1
  expect(busy.batches).toBe(250)
  expect(capacity.enter(guest())).toBe(true)
})

test('large batches leave capacity for first ones, up to a bound', () => {
  const capacity = new PushCapacity()
  capacity.enter(guest())
  capacity.fill(0, 70_000_000)
  expect([capacity.enter(guest(1)), capacity.enter(guest())]).toEqual([false, true])
  capacity.fill(0, 200_000_000)
  expect(capacity.enter(guest())).toBe(false)
})

test('a consumer that found no place is notified once when there is one', () => {
  const capacity = new PushCapacity()
  const [first, waiting, gone] = [guest(), guest(1), guest(1)]
  capacity.enter(first)
  capacity.fill(0, 70_000_000)
  expect([capacity.enter(waiting), capacity.enter(gone)]).toEqual([false, false])
  capacity.forget(gone)
  capacity.leave(70_000_000)
  capacity.enter(first)
  capacity.leave(0)
  expect([waiting.polled, gone.polled]).toEqual([1, 0])
})

test('receives under way count with what they will probably bring', () => {
  const capacity = new PushCapacity()
  const large = 4_194_304
  let receives = 0
  while (capacity.enter(guest(0, large))) receives += 1
  expect(receives).toBe(64)
  const waiting = guest(0, large)
  expect(capacity.enter(waiting)).toBe(false)
  capacity.fill(large, 0)
  expect(waiting.polled).toBe(1)
  expect([capacity.enter(guest(1)), capacity.enter(waiting)]).toEqual([false, true])
})
