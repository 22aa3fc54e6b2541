import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { ShardQueue } from './shard-queue.ts'

/** A queue that records the batches of its scripts. */
function createQueue() {
  const batches: string[] = []
  const queue = new ShardQueue<string>({
    batchMax: 100,
    run: async (shard, batch) => {
      batches.push(`${shard}:${batch.join('')}`)
    },
    report: () => undefined,
  })
  return { queue, batches }
}

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
  queue.pushLater(1, 'a')
  await queue.whenIdle()
  queue.pushLater(1, 'b')
  await new Promise((resolve) => setImmediate(resolve))
  expect(batches).toEqual(['1:a'])
  queue.pushLater(1, 'c')
  queue.push(1, 'd')
  await queue.whenIdle()
  expect(batches).toEqual(['1:a', '1:bcd'])
})

test('a lingering item goes by itself soon', async () => {
  const { queue, batches } = createQueue()
  queue.pushLater(1, 'a')
  await queue.whenIdle()
  queue.pushLater(1, 'b')
  await waitFor(() => batches.length === 2)
  expect(batches).toEqual(['1:a', '1:b'])
})
