import { expect, test } from 'vitest'
import { type Guest, PushRoom } from './push-room.ts'

function guest(batches = 0): Guest & { batches: number; looked: number } {
  const made = { batches, looked: 0, look: () => void made.looked++ }
  return made
}

test('further batches leave places for first ones', () => {
  const room = new PushRoom()
  const busy = guest()
  while (room.enter(busy)) busy.batches += 1
  expect(busy.batches).toBe(250)
  expect(room.enter(guest())).toBe(true)
})

test('large batches leave room for first ones, up to a bound', () => {
  const room = new PushRoom()
  room.enter(guest())
  room.fill(70_000_000)
  expect([room.enter(guest(1)), room.enter(guest())]).toEqual([false, true])
  room.fill(200_000_000)
  expect(room.enter(guest())).toBe(false)
})

test('who found no place is told when there is one, once', () => {
  const room = new PushRoom()
  const [first, waiting, gone] = [guest(), guest(1), guest(1)]
  room.enter(first)
  room.fill(70_000_000)
  expect([room.enter(waiting), room.enter(gone)]).toEqual([false, false])
  room.forget(gone)
  room.leave(70_000_000)
  room.enter(first)
  room.leave(0)
  expect([waiting.looked, gone.looked]).toEqual([1, 0])
})
