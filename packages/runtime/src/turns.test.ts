import { expect, test } from 'vitest'
import { Turns } from './turns.ts'

const never = () => false

/** Keeps the process busy for so long. */
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

test('a long computation lets the event loop turn between its pieces', async () => {
  const turns = new Turns()
  let [done, most, since] = [0, 0, 0]
  let isRunning = true
  const turn = () => {
    most = Math.max(most, done - since)
    since = done
    if (isRunning) setImmediate(turn)
  }
  setImmediate(turn)
  const told = () => {
    done++
  }
  expect(await turns.run(pieces(100, 1, told), never)).toBe('done')
  isRunning = false
  expect(done).toBe(100)
  expect(most).toBeLessThan(20)
})

test('several that are long share the turns, and what is new goes before them', async () => {
  const turns = new Turns()
  const order: string[] = []
  const long = ['a', 'b'].map((name) =>
    turns.run(
      pieces(30, 1, () => order.push(name)),
      never,
    ),
  )
  expect(turns.isOver).toBe(true)
  await turns.begin()
  order.push('new')
  await Promise.all(long)
  expect(order.indexOf('new')).toBeLessThan(30)
  expect(order.indexOf('b')).toBeLessThan(order.lastIndexOf('a'))
  expect(order.indexOf('a')).toBeLessThan(order.lastIndexOf('b'))
})

test('one that is given up ends between two pieces', async () => {
  const turns = new Turns()
  let told = 0
  const run = turns.run(
    pieces(1_000, 1, () => told++),
    () => told > 10,
  )
  expect(await run).toBeUndefined()
  expect(told).toBe(11)
})

test('a short turn is never over, whatever earlier turns did', async () => {
  const turns = new Turns()
  for (let i = 0; i < 3; i++) {
    turns.spendSince(performance.now() - 10)
    expect(turns.isOver).toBe(true)
    await turns.begin()
    turns.spend(100)
    expect(turns.isOver).toBe(false)
  }
})

test('a computation that throws rejects, and others go on', async () => {
  const turns = new Turns()
  function* failing(): Generator<number, string, void> {
    busy(6)
    yield 100_000
    throw new Error('as it is')
  }
  const both = await Promise.allSettled([turns.run(failing(), never), turns.run(pieces(20, 1), never)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
