/** Connections to a cluster: commands are sent once and to the right node, and connections come back by themselves. */
import { createMessageId, parseMessageId } from '@fantail/contracts'
import {
  batch,
  connect,
  connectSubscriber,
  connectTo,
  dispatchJobKey,
  dueKey,
  KeptMessages,
  keySlot,
  mastersOf,
  mendDueSets,
  nodeOf,
  type Redis,
  ReplicaAcks,
  readMemory,
  readNow,
  readSlowestTime,
  replies,
  SHARD_COUNT,
  shardBase,
  shardOf,
  Topics,
  whenReady,
} from '@fantail/store'
import {
  canSpawnRedis,
  skewKey,
  startCluster,
  startFairTimer,
  type TestCluster,
  waitFor,
} from '@fantail/test-kit'
import { afterAll, afterEach, test as anyTest, beforeAll, expect } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../harness/redis/tcp-proxy.ts'

const test = anyTest.skipIf(!canSpawnRedis())

const HOUR_MS = 3_600_000

let started: TestCluster | undefined
let proxies: TcpProxy[] = []
/** Maps every node to its own proxy. */
let natMap: Record<string, { host: string; port: number }>
const opened: Redis[] = []
const open = async (redis: Redis) => {
  opened.push(redis)
  await whenReady(redis)
  return redis
}
const cluster = () => {
  if (!started) throw new Error('the cluster runs in tests only')
  return started
}
const place = () => ({ ...cluster().target, natMap })

beforeAll(async () => {
  // Hooks run even if the tests are skipped.
  if (!canSpawnRedis()) return
  started = await startCluster()
  proxies = await Promise.all(started.nodes.map(({ port }) => startTcpProxy(port)))
  const pairs = started.nodes.map(({ port }, i) => {
    return [`127.0.0.1:${port}`, { host: '127.0.0.1', port: proxies[i]?.port ?? 0 }] as const
  })
  natMap = Object.fromEntries(pairs)
}, 60_000)
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect()
})
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()))
  await started?.stop()
})

/** The proxy of the master that has the key. */
async function proxyOf(key: string): Promise<TcpProxy> {
  const proxy = proxies[cluster().nodes.indexOf(await cluster().masterOf(keySlot(key)))]
  if (!proxy) throw new Error('no proxy')
  return proxy
}

const connections: [string, (key: string) => Redis][] = [
  ['the cluster', () => connect({ url: place(), name: 'test' })],
  ['the master of a key', (key) => connectTo({ url: place(), name: 'test' }, key)],
]

test.each(connections)('a command to %s whose reply is lost is sent once', async (_, make) => {
  const key = `{sent-once}${_}`
  const redis = await open(make(key))
  await redis.incr(key)
  const proxy = await proxyOf(key)
  const lost = proxy.trap({
    matches: (request) => request.toString().toLowerCase().includes('incr'),
    at: 'after',
  })
  await expect(redis.incr(key)).rejects.toThrow()
  await lost
  await waitFor(async () => (await redis.get(key).catch(() => null)) === '2')
})

test.each(connections)(
  'nothing is kept for %s while its master is away',
  async (_, make) => {
    const key = `{away}${_}`
    const master = await cluster().masterOf(keySlot(key))
    const redis = await open(make(key))
    await redis.set(key, '1')
    await master.freeze()
    const took = startFairTimer()
    await expect(redis.incr(key)).rejects.toThrow()
    expect(took()).toBeLessThan(2_000)
    await master.thaw()
    await waitFor(() => redis.get(key).catch(() => null))
  },
  30_000,
)

test('commands on keys of all shards go in one batch, and each failure is its own', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const keys = Array.from({ length: SHARD_COUNT }, (_, shard) => `${shardBase(shard)}batch`)
  const writes = batch(redis)
  for (const [i, key] of keys.entries()) writes.set(key, String(i))
  expect(await replies(writes)).toEqual(keys.map(() => 'OK'))
  const results = await batch(redis)
    .get(keys[3] ?? '')
    .incr(`${keys[7]}text`)
    .lpush(keys[9] ?? '', 'x')
    .exec()
  expect(results?.[0]).toEqual([null, '3'])
  expect(results?.[1]).toEqual([null, 1])
  expect(results?.[2]?.[0]?.message).toContain('WRONGTYPE')
})

test('a ring gets its messages in one transaction, on the master of its slot', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const arn = 'arn:aws:sns:us-east-1:000000000000:ringed'
  const { topic } = await new Topics(redis).put(arn, { keepMessages: { seconds: 60, bytes: 1_048_576 } })
  const messageId = createMessageId(Date.now())
  const id = parseMessageId(messageId) ?? Buffer.alloc(0)
  const kept = new KeptMessages(redis)
  await kept.keep([{ arn, uid: topic.uid, id, body: '{"message":"one"}' }])
  expect(String(await kept.read(arn, messageId))).toBe('{"message":"one"}')
  // The record of a job is in another slot, so no ring copies it there.
  const one = { arn, uid: topic.uid, id: Buffer.alloc(16, 2), body: '{}' }
  const place = { record: dispatchJobKey(0, '1'), name: 'dispatch-0:1:m0f3k2q1', addedAt: 1 }
  const job = { arn, uid: topic.uid, ...place, copies: true, messages: [one] }
  expect(await kept.keepJobs([job])).toEqual([job])
  await redis.set(`${shardBase(shardOf(arn))}kept`, 'of another kind')
  const second = { arn, uid: topic.uid, id: Buffer.alloc(16, 1), body: '{}' }
  await expect(kept.keep([second])).rejects.toThrow('WRONGTYPE')
  await redis.del(`${shardBase(shardOf(arn))}kept`)
})

test('due sets of another type are made again on every master', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const bases = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  const masters = new Set(bases.map((base) => nodeOf(redis, base)))
  expect(masters.size).toBe(mastersOf(redis).length)
  for (const base of bases) await redis.rpush(`${base}log:topic`, 'entry')
  for (const base of bases) await redis.set(dueKey(base), 'damaged')
  const told: string[] = []
  expect(await mendDueSets(redis, (_, key) => void told.push(key))).toBe(SHARD_COUNT)
  expect(told).toEqual(bases.map(dueKey))
  for (const base of bases) {
    expect(await redis.zrange(dueKey(base), '0', '-1')).toEqual(['log:topic'])
    await redis.del(`${base}log:topic`, dueKey(base))
  }
})

test('a shard uses the clock of its own master, and messages that of the slowest', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  expect(mastersOf(redis)).toHaveLength(3)
  await redis.set(skewKey(shardBase(5)), HOUR_MS)
  expect((await readNow(redis, 5)) - (await readNow(redis, 6))).toBeGreaterThan(HOUR_MS - 1_000)
  expect(Math.abs((await readSlowestTime(redis)) - Date.now())).toBeLessThan(1_000)
  await redis.del(skewKey(shardBase(5)))
})

test('the fullest master says how full storage is', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const before = await readMemory(redis, 1e9)
  await redis.setrange('{ballast}x', 50_000_000, 'x')
  expect((await readMemory(redis, 1e9)).usedBytes - before.usedBytes).toBeGreaterThan(30_000_000)
  await redis.del('{ballast}x')
})

test('a subscriber gets what any node publishes', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const subscriber = await open(connectSubscriber({ url: cluster().target, name: 'test-wakes' }))
  const heard: string[] = []
  subscriber.on('message', (_: string, text: string) => heard.push(text))
  await subscriber.subscribe('news')
  for (const [i, master] of mastersOf(redis).entries()) await master.publish('news', String(i))
  await waitFor(() => heard.length === 3)
  expect(heard.toSorted()).toEqual(['0', '1', '2'])
})

test('each slot is confirmed by its own master’s replica', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  const acks = new ReplicaAcks(redis, { minReplicas: 1, strict: true })
  const keys = Array.from({ length: SHARD_COUNT }, (_, shard) => shardBase(shard))
  await acks.confirmAll(keys)
  const [master] = mastersOf(redis)
  const { nodes } = cluster()
  const at = nodes.findIndex(({ port }) => port === master?.options.port)
  // The list has the masters first and then the replicas, in the same order.
  const replica = nodes[at + nodes.length / 2]
  await replica?.freeze()
  const told = await Promise.allSettled(keys.map((key) => acks.confirm(key)))
  await replica?.thaw()
  const refused = keys.filter((_, i) => told[i]?.status === 'rejected')
  expect(refused).toEqual(keys.filter((key) => nodeOf(redis, key) === master))
  expect(refused.length).toBeGreaterThan(10)
  await waitFor(
    () =>
      acks.confirmAll(keys).then(
        () => true,
        () => false,
      ),
    { what: 'the replica' },
  )
})

test('a replica holds a write, or the caller learns that none does', async () => {
  const redis = await open(connect({ url: cluster().target, name: 'test' }))
  await redis.set('{copied}x', '1')
  await new ReplicaAcks(redis, { minReplicas: 1, strict: true }).confirm('{copied}x')
  await expect(new ReplicaAcks(redis, { minReplicas: 2, strict: true }).confirm('{copied}x')).rejects.toThrow(
    'only 1 of 2 replicas',
  )
  const lenient = new ReplicaAcks(redis, { minReplicas: 2 })
  await lenient.confirm('{copied}x')
  const took = startFairTimer(...cluster().nodes.map((node) => node.pid()))
  await lenient.confirm('{copied}x')
  expect(took()).toBeLessThan(500)
})
