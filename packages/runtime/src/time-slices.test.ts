import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { TimeSlices } from './time-slices.ts'

const never = () => false

/** Keeps the process busy for this many ms. */
function busy(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function* pieces(
  count: number,
  ms: number,
  told: () => void = () => undefined,
): Generator<number, string, void> {
  for (let i = 0; i < count; i++) {
    busy(ms)
    told()
    yield 100_000
  }
  return 'done'
}

function* failing(): Generator<number, string, void> {
  busy(6)
  yield 100_000
  throw new Error('as it is')
}

test('a long computation lets the event loop turn between its pieces', async () => {
  const timeSlices = new TimeSlices()
  let [done, most, since] = [0, 0, 0]
  let isRunning = true
  const nextTurn = () => {
    most = Math.max(most, done - since)
    since = done
    if (isRunning) setImmediate(nextTurn)
  }
  setImmediate(nextTurn)
  const told = () => {
    done++
  }
  expect(await timeSlices.run(pieces(100, 1, told), never)).toBe('done')
  isRunning = false
  expect(done).toBe(100)
  expect(most).toBeLessThan(20)
})

test('several that are long share the turns, and what is new goes before them', async () => {
  const timeSlices = new TimeSlices()
  const order: string[] = []
  const long = ['a', 'b'].map((name) =>
    timeSlices.run(
      pieces(30, 1, () => order.push(name)),
      never,
    ),
  )
  expect(timeSlices.isOver).toBe(true)
  await timeSlices.begin()
  order.push('new')
  await Promise.all(long)
  expect(order.indexOf('new')).toBeLessThan(30)
  expect(order.indexOf('b')).toBeLessThan(order.lastIndexOf('a'))
  expect(order.indexOf('a')).toBeLessThan(order.lastIndexOf('b'))
})

test('a computation that is given up ends between two pieces', async () => {
  const timeSlices = new TimeSlices()
  let told = 0
  const run = timeSlices.run(
    pieces(1_000, 1, () => told++),
    () => told > 10,
  )
  expect(await run).toBeUndefined()
  expect(told).toBe(11)
})

test('a short turn is never over, whatever earlier turns did', async () => {
  const timeSlices = new TimeSlices()
  for (let i = 0; i < 3; i++) {
    timeSlices.spendSince(performance.now() - 10)
    expect(timeSlices.isOver).toBe(true)
    await timeSlices.begin()
    timeSlices.spend(100)
    expect(timeSlices.isOver).toBe(false)
  }
})

test('a turn does not count the time since an earlier one', async () => {
  const timeSlices = new TimeSlices()
  timeSlices.spendSince(performance.now() - 10)
  await timeSlices.begin()
  const from = performance.now()
  await waitFor(() => performance.now() - from > 10)
  timeSlices.spend(100_000)
  expect(timeSlices.isOver).toBe(false)
})

test('a computation that throws rejects, and others go on', async () => {
  const timeSlices = new TimeSlices()
  const both = await Promise.allSettled([
    timeSlices.run(failing(), never),
    timeSlices.run(pieces(20, 1), never),
  ])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('a load has a piece in nearly every turn, however many computations are long', async () => {
  const timeSlices = new TimeSlices()
  const order: string[] = []
  const long = Array.from({ length: 6 }, () =>
    timeSlices.run(
      pieces(8, 5, () => order.push('long')),
      never,
    ),
  )
  expect(timeSlices.isOver).toBe(true)
  expect(await timeSlices.load(pieces(5, 5, () => order.push('load')))).toBe('done')
  const places = order.flatMap((what, place) => (what === 'load' ? [place] : []))
  const between = places.slice(1).map((place, n) => place - (places[n] ?? 0) - 1)
  expect(places).toHaveLength(5)
  expect(Math.max(...between)).toBeLessThanOrEqual(2)
  await Promise.all(long)
})

test('a load that throws rejects', async () => {
  const timeSlices = new TimeSlices()
  await expect(timeSlices.load(failing())).rejects.toThrow('as it is')
  expect(await timeSlices.load(pieces(1, 1))).toBe('done')
})
