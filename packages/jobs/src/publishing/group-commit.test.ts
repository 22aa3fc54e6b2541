import { FantailError } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { expect, test, vi } from 'vitest'
import { GroupCommit, type GroupLimits } from './group-commit.ts'

const weight = { bytes: 100, fanOut: 1 }

/** A storage whose writes end when the test says so. */
function createStorage(limits: Partial<GroupLimits> = {}) {
  const writes: { items: string[]; at: number; end(error?: Error): void }[] = []
  let up = true
  const commit = new GroupCommit<string>({
    limits,
    canWrite: () => up,
    write: (items) =>
      new Promise((resolve, reject) => {
        writes.push({ items, at: performance.now(), end: (error) => (error ? reject(error) : resolve()) })
      }),
  })
  const setUp = (value: boolean) => {
    up = value
    commit.flush()
  }
  return { commit, writes, setUp }
}

/** Resolves when the work that is scheduled for the end of this turn has run. */
async function turnOfTheLoop(): Promise<void> {
  for (let n = 0; n < 2; n++) await new Promise((resolve) => setImmediate(resolve))
}

test('requests that arrive during a write leave together in the next one', async () => {
  const { commit, writes } = createStorage({ secondWriteAfterMs: 10_000 })
  const first = commit.add(['a'], weight)
  await waitFor(() => writes.length === 1)
  const later = [commit.add(['b'], weight), commit.add(['c', 'd'], weight)]
  writes[0]?.end()
  await first
  await waitFor(() => writes.length === 2)
  expect(writes[1]?.items).toEqual(['b', 'c', 'd'])
  writes[1]?.end()
  await Promise.all(later)
})

test('the next write waits for as many requests as the last one took', async () => {
  const { commit, writes } = createStorage({
    gatherMsEach: 10_000,
    gatherMsMax: 10_000,
    secondWriteAfterMs: 10_000,
  })
  const first = [commit.add(['a'], weight), commit.add(['b'], weight)]
  await waitFor(() => writes.length === 1)
  writes[0]?.end()
  await Promise.all(first)
  const [back] = [commit.add(['a2'], weight), await turnOfTheLoop()]
  expect([writes.length, commit.waiting]).toEqual([1, 1])
  const last = commit.add(['b2'], weight)
  await waitFor(() => writes.length === 2)
  expect(writes[1]?.items).toEqual(['a2', 'b2'])
  writes[1]?.end()
  await Promise.all([back, last])
})

test('a second caller that does not come back is waited for once, and not for long', async () => {
  const { commit, writes } = createStorage({ gatherMsEach: 10, gatherMsMax: 20, secondWriteAfterMs: 10_000 })
  const first = [commit.add(['a'], weight), commit.add(['b'], weight)]
  await waitFor(() => writes.length === 1)
  writes[0]?.end()
  await Promise.all(first)
  const second = commit.add(['a2'], weight)
  await waitFor(() => writes.length === 2)
  expect(writes[1]?.at).toBeGreaterThanOrEqual((writes[0]?.at ?? 0) + 20)
  writes[1]?.end()
  await second
  void commit.add(['a3'], weight)
  await turnOfTheLoop()
  expect(writes).toHaveLength(3)
  writes[2]?.end()
})

test('after a large group, writes wait for about as many requests, so that groups stay large', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setImmediate'] })
  try {
    const { commit, writes } = createStorage({ secondWriteAfterMs: 10_000 })
    void commit.add(['first'], weight)
    await vi.advanceTimersByTimeAsync(1)
    for (let ms = 0; ms < 60; ms++) {
      void commit.add([`${ms}`], weight)
      await vi.advanceTimersByTimeAsync(1)
      if (ms >= 10) for (const { end } of writes) end()
    }
    const sizes = writes.map(({ items }) => items.length)
    expect(sizes[1]).toBeGreaterThanOrEqual(10)
    expect(sizes.length).toBeGreaterThanOrEqual(7)
    expect(Math.min(...sizes.slice(2))).toBeGreaterThanOrEqual(7)
  } finally {
    vi.useRealTimers()
  }
})

test('a second write starts when the oldest has waited too long', async () => {
  const { commit, writes } = createStorage()
  void commit.add(['a'], weight)
  await waitFor(() => writes.length === 1)
  void commit.add(['b'], weight)
  await waitFor(() => writes.length === 2)
  for (const write of writes) write.end()
})

test('a full group does not wait for the write before it; what does not fill one does', async () => {
  const { commit, writes } = createStorage({ messagesMax: 3, secondWriteAfterMs: 10_000 })
  const first = commit.add(['first'], weight)
  await waitFor(() => writes.length === 1)
  const rest = [commit.add(['a', 'b'], weight), commit.add(['c'], weight), commit.add(['d'], weight)]
  await waitFor(() => writes.length === 2)
  expect([writes[1]?.items, commit.waiting]).toEqual([['a', 'b', 'c'], 1])
  for (const { end } of writes) end()
  await first
  await waitFor(() => writes.length === 3)
  writes[2]?.end()
  await Promise.all(rest)
})

test('a group stays within its bounds and a request is never split', async () => {
  const { commit, writes } = createStorage({ messagesMax: 3, secondWriteAfterMs: 10_000 })
  void commit.add(['first'], weight)
  await waitFor(() => writes.length === 1)
  const rest = [commit.add(['a', 'b'], weight), commit.add(['c', 'd'], weight), commit.add(['e'], weight)]
  await waitFor(() => writes.length === 3)
  for (const { end } of writes) end()
  await Promise.all(rest)
  expect(writes.slice(1).map((w) => w.items)).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
})

test('deliveries bound a group too', async () => {
  const { commit, writes } = createStorage({ deliveriesMax: 1_000, secondWriteAfterMs: 10_000 })
  void commit.add(['first'], weight)
  await waitFor(() => writes.length === 1)
  void commit.add(['a'], { bytes: 1, fanOut: 600 })
  void commit.add(['b'], { bytes: 1, fanOut: 600 })
  writes[0]?.end()
  await waitFor(() => writes.length === 2)
  expect(writes[1]?.items).toEqual(['a'])
  writes[1]?.end()
  await waitFor(() => writes.length === 3)
  writes[2]?.end()
})

test('a failed write fails every request in it, and only those', async () => {
  const { commit, writes } = createStorage({ secondWriteAfterMs: 10_000 })
  const first = commit.add(['a'], weight)
  await waitFor(() => writes.length === 1)
  const second = commit.add(['b'], weight)
  writes[0]?.end(new Error('broken'))
  await expect(first).rejects.toThrow('broken')
  await waitFor(() => writes.length === 2)
  writes[1]?.end()
  await second
})

test('a request that gave up is in no later group', async () => {
  const { commit, writes, setUp } = createStorage({ pendingMs: 30 })
  setUp(false)
  await expect(commit.add(['late'], weight)).rejects.toMatchObject({ code: 'storage_unavailable' })
  setUp(true)
  const next = commit.add(['next'], weight)
  await waitFor(() => writes.length === 1)
  expect(writes[0]?.items).toEqual(['next'])
  writes[0]?.end()
  await next
})

test('requests wait out a short outage', async () => {
  const { commit, writes, setUp } = createStorage()
  setUp(false)
  const request = commit.add(['a'], weight)
  setUp(true)
  await waitFor(() => writes.length === 1)
  writes[0]?.end()
  await request
})

test('waiting bytes are bounded', async () => {
  const { commit, setUp } = createStorage({ pendingBytesMax: 150 })
  setUp(false)
  const first = commit.add(['a'], weight)
  await expect(commit.add(['b'], weight)).rejects.toBeInstanceOf(FantailError)
  commit.close()
  await expect(first).rejects.toMatchObject({ code: 'storage_unavailable' })
  expect(commit.waiting).toBe(0)
})
