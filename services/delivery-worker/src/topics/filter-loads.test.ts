/** Which slices are loaded for their filters, and when loading ends. */
import { type SliceRef, UnreadableRecordError } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import type { TopicSnapshot } from './compiled-slice.ts'
import { FilterLoads, SLICES_LOADED_MAX } from './filter-loads.ts'
import { sliceNumberOf } from './topic-filters.ts'

const UNFILTERED_MAX = 1_000

const snapshotOf = (slices: number) =>
  ({
    slices: Array.from({ length: slices }, (_, n) => ({ sliceId: `uid.${n}`, shard: 0 })),
    hasFilters: false,
  }) as unknown as TopicSnapshot

/** `unfiltered`: subscriptions without a filter in each slice. `kept`: how many slices' filters the cache accepts. */
function createLoads({ unfiltered = 0, kept = Number.POSITIVE_INFINITY, load = async () => {} } = {}) {
  const known = new Map<number, object>()
  const loaded: string[] = []
  const loads = new FilterLoads({
    filters: { check: async () => undefined, of: () => known as never },
    load: async (_snapshot: TopicSnapshot, { sliceId }: SliceRef) => {
      loaded.push(sliceId)
      await load()
      const filters = { unfiltered }
      if (known.size < kept) known.set(sliceNumberOf(sliceId), { filters })
      return { filters, unfiltered: Array.from({ length: unfiltered }) } as never
    },
  })
  return { loads, loaded }
}

test('all slices of a snapshot are loaded, once for all who ask', async () => {
  const { loads, loaded } = createLoads()
  const snapshot = snapshotOf(3)
  await Promise.all([loads.load(snapshot, UNFILTERED_MAX), loads.load(snapshot, UNFILTERED_MAX)])
  expect([loaded, snapshot.hasFilters]).toEqual([['uid.0', 'uid.1', 'uid.2'], true])
  expect(loads.load(snapshot, UNFILTERED_MAX)).toBeUndefined()
})

test('a later snapshot loads only what is not known', async () => {
  const { loads, loaded } = createLoads()
  await loads.load(snapshotOf(2), UNFILTERED_MAX)
  await loads.load(snapshotOf(3), UNFILTERED_MAX)
  expect(loaded).toEqual(['uid.0', 'uid.1', 'uid.2'])
})

test('loading ends where so many have no filter that a message is cut anyway', async () => {
  const { loads, loaded } = createLoads({ unfiltered: 400 })
  await loads.load(snapshotOf(10), UNFILTERED_MAX)
  expect(loaded).toHaveLength(3)
})

test('loading ends where no more filters can be kept', async () => {
  const { loads, loaded } = createLoads({ kept: 4 })
  await loads.load(snapshotOf(10), UNFILTERED_MAX)
  expect(loaded).toHaveLength(5)
})

test('slices are read beside each other once a read has taken long', async () => {
  const first = Promise.withResolvers<void>()
  const others = Promise.withResolvers<void>()
  let asked = 0
  const { loads, loaded } = createLoads({ load: () => (asked++ === 0 ? first.promise : others.promise) })
  const loading = loads.load(snapshotOf(20), UNFILTERED_MAX)
  await waitFor(() => loaded.length === 1)
  const askedAt = performance.now()
  await waitFor(() => performance.now() - askedAt > 50)
  first.resolve()
  await waitFor(() => loaded.length === 17)
  others.resolve()
  await loading
  expect(loaded).toHaveLength(20)
})

test('a topic of too many slices is not loaded', () => {
  const { loads } = createLoads()
  expect(loads.load(snapshotOf(SLICES_LOADED_MAX + 1), UNFILTERED_MAX)).toBeUndefined()
})

test('a load that fails goes on at the next call, and passes over what cannot be read', async () => {
  const failures = [new Error('away'), new UnreadableRecordError('slice', 'not JSON')]
  const load = async () => {
    const failure = failures.shift()
    if (failure) throw failure
  }
  const { loads, loaded } = createLoads({ load })
  const snapshot = snapshotOf(2)
  await expect(loads.load(snapshot, UNFILTERED_MAX)).rejects.toThrow('away')
  await loads.load(snapshot, UNFILTERED_MAX)
  expect(loaded).toEqual(['uid.0', 'uid.0', 'uid.1'])
})
