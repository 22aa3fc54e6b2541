/** A lost run requests a snapshot and does not wait for it. Node ends a process for an unhandled rejection. */
import type { Snapshots } from '@fantail/store'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SnapshotCache } from './snapshot-cache.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:t'
const ref = { sliceId: 'uid.0', shard: 0 }
const snapshot = { topic: { arn: ARN, uid: 'uid' }, slices: [ref], hasFilters: true, since: 0 }
let unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)

beforeEach(() => {
  unhandled = []
  process.on('unhandledRejection', note)
})
afterEach(() => void process.off('unhandledRejection', note))

/** Redis is away. */
function createCache(): SnapshotCache {
  const fail = () => Promise.reject(new Error('Connection is closed.'))
  const snapshots = { topicRevisions: fail, sliceRevisions: fail } as unknown as Snapshots
  return new SnapshotCache(snapshots, () => undefined)
}

/** Look-ups are collected for one turn. A rejection is reported at the end of the turn in which it happened. */
async function turns(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise(setImmediate)
}

test.each([
  ['a topic', (cache: SnapshotCache) => cache.topic(ARN)],
  ['a slice', (cache: SnapshotCache) => cache.slice(ref)],
  ['a slice of a snapshot', (cache: SnapshotCache) => cache.sliceOf(snapshot as never, ref)],
])('%s that nobody waits for fails unnoticed', async (_, ask) => {
  const cache = createCache()
  void ask(cache)
  await turns()
  expect(unhandled).toEqual([])
  await expect(ask(cache)).rejects.toThrow('Connection is closed.')
})

test('revisions that are asked for in one turn take one trip, and are asked for again in the next', async () => {
  const trips: string[][] = []
  const topicRevisions = async (arns: readonly string[]) => {
    trips.push([...arns])
    return arns.map(() => null)
  }
  const cache = new SnapshotCache({ topicRevisions } as unknown as Snapshots, () => undefined)
  expect(await Promise.all([cache.topic('a'), cache.topic('b')])).toEqual([null, null])
  expect(await cache.topic('a')).toBeNull()
  expect(trips).toEqual([['a', 'b'], ['a']])
})
