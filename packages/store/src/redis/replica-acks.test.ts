import { redisReleases, startWithReplica, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { barrierKey } from '../keys/keys.ts'
import { connect, whenReady } from './connections/connect.ts'
import { ReplicaAcks, ReplicaWatch } from './replica-acks.ts'

const { redis } = await useRedis({ connect })
beforeEach(() => redis.config('RESETSTAT'))

const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
const write = async (acks: ReplicaAcks, i: number, strict?: boolean) => {
  await acks.redis.set(`key-${i}`, i)
  await acks.confirm(`key-${i}`, strict)
}
const writes = (acks: ReplicaAcks, n: number, strict?: boolean) =>
  Promise.all(Array.from({ length: n }, (_, i) => write(acks, i, strict)))

/** Resolves when the replica has confirmed. A first try may time out on a busy machine. */
const confirmed = (acks: ReplicaAcks) =>
  waitFor(
    () =>
      acks.confirm('key').then(
        () => true,
        (error: Error) => {
          if (!error.message.includes('0 of 1 replicas')) throw error
        },
      ),
    { what: 'the replica to confirm' },
  )

test('writes whose replies come together wait for replicas together, and a missing one is waited for once', async () => {
  const acks = new ReplicaAcks(redis, { minReplicas: 1 })
  await writes(acks, 20)
  expect(await waits()).toBe(1)
  await writes(acks, 20)
  expect(await waits()).toBe(1)
})

test('a write during another one’s failed wait does not wait a second time', async () => {
  const acks = new ReplicaAcks(redis, { minReplicas: 1 })
  await redis.set('key', '1')
  const first = acks.confirm('key')
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  await Promise.all([first, acks.confirm('key')])
  expect(await waits()).toBe(1)
})

test('every strict caller gets an error if replicas are missing', async () => {
  const acks = new ReplicaAcks(redis, { minReplicas: 1, strict: true })
  await redis.mset('key-1', '1', 'key-2', '2', 'key-3', '3')
  // Both calls are made in one turn of the event loop, as if one read had brought both replies.
  const told = await Promise.allSettled([
    acks.confirm('key-1'),
    acks.confirm('key-2'),
    acks.confirm('key-3', false),
  ])
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
  expect(await waits()).toBe(1)
})

test('while replicas stay away, callers wait for the present wait only, and one state is reported', async () => {
  const states: string[] = []
  const watch = new ReplicaWatch((state, error) => void states.push(error?.message ?? state))
  const { onWait } = watch
  const acks = new ReplicaAcks(redis, { minReplicas: 1, strict: true, onWait })
  await expect(acks.confirm('key')).rejects.toThrow('0 of 1 replicas')
  await redis.config('RESETSTAT')
  const first = acks.confirm('key')
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const told = await Promise.allSettled([first, acks.confirm('key'), acks.confirm('key')])
  expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await waits()).toBe(1)
  expect([new Set(states).size, watch.missing]).toEqual([1, 1])
})

test('replicas of a master that has left its cluster are not reported as missing any more', async () => {
  const states: string[] = []
  const watch = new ReplicaWatch((state) => void states.push(state))
  const left = redis.duplicate({ lazyConnect: true })
  watch.onWait(left, { missing: 1, error: new Error('0 of 1 replicas') })
  watch.onWait(redis, undefined)
  expect(watch.missing).toBe(1)
  left.disconnect()
  await waitFor(() => left.status === 'end')
  watch.onWait(redis, undefined)
  expect(states).toEqual(['down', 'down', 'up'])
  expect(watch.missing).toBe(0)
})

test('without replicas to wait for nothing is asked', async () => {
  await writes(new ReplicaAcks(redis), 3)
  expect(await waits()).toBe(0)
})

const { usual, newer } = redisReleases()

describe.each([
  ['the usual Redis', usual],
  ['a Redis of 7.2 or newer, or a Valkey', newer],
])('%s with a replica', (_, command) => {
  test.skipIf(!command)(
    'confirms what another process has written only when the replica holds it',
    async () => {
      const { master, replica, stop } = await startWithReplica({ ...(command && { command }) })
      const [writer, reader] = [master, master].map(({ url }) => connect({ url, name: 'test' }))
      if (!writer || !reader) throw new Error('two connections')
      try {
        await Promise.all([writer, reader].map(whenReady))
        const acks = new ReplicaAcks(reader, { minReplicas: 1, strict: true })
        await confirmed(acks)
        await replica.freeze()
        await writer.set('key', 'by another')
        expect(await reader.eval("return redis.call('GET', KEYS[1])", 1, 'key')).toBe('by another')
        await expect(acks.confirm('key')).rejects.toThrow('0 of 1 replicas')
        await replica.thaw()
        await confirmed(acks)
        // A write that an accepted delivery needs works when memory is full, and so does its confirmation.
        await reader.del(barrierKey('key'))
        await reader.config('SET', 'maxmemory', '1')
        await confirmed(acks)
      } finally {
        writer.disconnect()
        reader.disconnect()
        await stop()
      }
    },
  )
})

test('a move waits for a replica that is late, and goes on without one that stays silent', async () => {
  const { master, replica, stop } = await startWithReplica()
  const connection = connect({ url: master.url, name: 'test' })
  try {
    await whenReady(connection)
    const acks = new ReplicaAcks(connection, { minReplicas: 1 })
    await waitFor(async () => (await connection.wait(1, 1_000)) === 1, { what: 'the replica' })
    const looked = vi.spyOn(connection, 'info')
    await replica.freeze()
    await connection.set('late', '1')
    const late = acks.confirm('late')
    await waitFor(() => looked.mock.calls.length === 1, { what: 'the first wait to end without success' })
    await replica.thaw()
    await late
    expect(await connection.wait(1, 1)).toBe(1)
    looked.mockClear()
    await replica.freeze()
    await connection.set('silent', '1')
    await acks.confirm('silent')
    expect(looked).toHaveBeenCalledTimes(3)
    await replica.thaw()
  } finally {
    connection.disconnect()
    await stop()
  }
})
