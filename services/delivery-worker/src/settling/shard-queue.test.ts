import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { ShardQueue } from './shard-queue.ts'

/** A queue that records the batches of its scripts, and the items that it gave up. */
function createQueue(fail: (batch: string[], n: number) => Error | undefined = () => undefined) {
  const batches: string[] = []
  const givenUp: string[] = []
  let runs = 0
  const queue = new ShardQueue<string>({
    batchMax: 100,
    run: async (shard, batch) => {
      const error = fail(batch, ++runs)
      if (error) throw error
      batches.push(`${shard}:${batch.join('')}`)
    },
    drop: (shard, item, error) => void givenUp.push(`${shard}:${item} ${(error as Error).message}`),
    report: () => undefined,
  })
  return { queue, batches, givenUp, runs: () => runs }
}

const SCRIPT_ERROR = 'WRONGTYPE Operation against a key script: f0, on @user_script:9.'

test('items of one turn go together, by shard', async () => {
  const { queue, batches } = createQueue()
  queue.push(1, 'a')
  queue.push(2, 'b')
  queue.push(1, 'c')
  await queue.whenIdle()
  expect(batches).toEqual(['1:ac', '2:b'])
})

test('a lingering item goes at once if its shard was quiet, and otherwise with later items', async () => {
  const { queue, batches } = createQueue()
  queue.pushLingering(1, 'a')
  await queue.whenIdle()
  queue.pushLingering(1, 'b')
  await new Promise((resolve) => setImmediate(resolve))
  expect(batches).toEqual(['1:a'])
  queue.pushLingering(1, 'c')
  queue.push(1, 'd')
  await queue.whenIdle()
  expect(batches).toEqual(['1:a', '1:bcd'])
})

test('a lingering item goes by itself soon', async () => {
  const { queue, batches } = createQueue()
  queue.pushLingering(1, 'a')
  await queue.whenIdle()
  queue.pushLingering(1, 'b')
  await waitFor(() => batches.length === 2)
  expect(batches).toEqual(['1:a', '1:b'])
})

test('an item whose script fails is given up alone, and all others of its shard go on in order', async () => {
  const isFaulty = (batch: string[]) => batch.includes('x')
  const { queue, batches, givenUp } = createQueue((batch) =>
    isFaulty(batch) ? new Error(SCRIPT_ERROR) : undefined,
  )
  for (const item of 'abxcd') queue.push(1, item)
  queue.push(2, 'e')
  await queue.whenIdle()
  queue.push(1, 'f')
  await queue.whenIdle()
  expect(givenUp).toEqual([`1:x ${SCRIPT_ERROR}`])
  expect(
    batches
      .filter((batch) => batch.startsWith('1'))
      .map((batch) => batch.slice(2))
      .join(''),
  ).toBe('abcdf')
  expect(batches).toContain('2:e')
})

test('an item that Redis refuses for now is never given up, also among faulty ones', async () => {
  const { queue, batches, givenUp } = createQueue((batch, n) => {
    if (n <= 3) return new Error(SCRIPT_ERROR)
    if (n <= 8) return new Error(n % 2 ? 'Connection is closed.' : 'OOM command not allowed')
    return batch.includes('x') ? new TypeError('no text') : undefined
  })
  for (const item of 'ax') queue.push(1, item)
  await queue.whenIdle()
  expect([batches, givenUp]).toEqual([['1:a'], ['1:x no text']])
})
