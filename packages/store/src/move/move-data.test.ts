import { startCluster, startRedis, type TestCluster, type TestRedis } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connect, type Redis, whenReady } from '../index.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { differingKeys } from './copy-keys.ts'
import { MOVE_KEY, type MoveDataOptions, moveData } from './move-data.ts'

let server: TestRedis
let cluster: TestCluster
let from: Redis
let to: Redis
beforeAll(async () => {
  server = await startRedis()
  cluster = await startCluster({ replicas: 0 })
  from = connect({ url: server.url, name: 'test' })
  to = connect({ url: cluster.target, name: 'test' })
  await Promise.all([whenReady(from), whenReady(to)])
}, 60_000)
beforeEach(async () => {
  await Promise.all([from, ...mastersOf(to)].map((redis) => redis.flushall()))
})
afterAll(async () => {
  from.disconnect()
  to.disconnect()
  await Promise.all([server.stop(), cluster.stop()])
})

const BINARY = Buffer.from([0, 255, 10, 13, 128, 200])
const LANE = 'ft:{8gt}:fresh:sub'

/** Makes every type of key, in every form in which Redis stores it. */
async function fill(): Promise<void> {
  const pipeline = from.pipeline()
  pipeline.set('ft:{a}:text', BINARY)
  pipeline.set('ft:{b}:dying', 'x', 'PX', 600_000)
  pipeline.set('ft:{c}:number', '42')
  for (let i = 0; i < 2_000; i++) {
    pipeline.hset('ft:{d}:hash', Buffer.concat([BINARY, Buffer.from(`${i}`)]), `v${i}`)
    pipeline.sadd('ft:{e}:set', `member ${i}`)
    pipeline.zadd(LANE, String(1_700_000_000_000.5 + i * 2_048), Buffer.from(`delivery ${i}`))
    pipeline.rpush('ft:{g}:list', `item ${i}`)
    pipeline.xadd('ft:{h}:stream', 'MAXLEN', 1_500, `${i + 1}-1`, 'f', `v${i}`, 'g', BINARY)
  }
  pipeline.hset('ft:{i}:small', { a: '1', b: '' })
  pipeline.zadd('ft:{j}:few', 'inf', 'last', '0.1', 'first')
  pipeline.sadd('ft:{k}:numbers', 1, 2, 3)
  pipeline.set('somebody:else', '1')
  await pipeline.exec()
}

const move = (options: Partial<MoveDataOptions> = {}) => moveData({ from, to, source: 'here', ...options })

async function contents(redis: Redis): Promise<unknown> {
  const stream = await redis.xrangeBuffer('ft:{h}:stream', '-', '+')
  const hash = (await redis.hgetallBuffer('ft:{d}:hash')) as Record<string, Buffer>
  return {
    text: await redis.getBuffer('ft:{a}:text'),
    number: await redis.incr('ft:{c}:number'),
    hash: Object.entries(hash)
      .map(([field, value]) => `${field} ${value}`)
      .sort(),
    set: (await redis.smembers('ft:{e}:set')).sort(),
    lane: await redis.zrange(LANE, '0', '-1', 'WITHSCORES'),
    list: await redis.lrange('ft:{g}:list', 0, -1),
    stream: stream.map(([id, fields]) => [String(id), fields]),
    small: await redis.hgetall('ft:{i}:small'),
    few: await redis.zrange('ft:{j}:few', '0', '-1', 'WITHSCORES'),
    numbers: (await redis.smembers('ft:{k}:numbers')).sort(),
  }
}

test.each([
  ['whole', undefined],
  ['element by element', 0],
])('keys of all types move %s, with their lifetimes', async (_, wholeBytesMax) => {
  await fill()
  const report = await move(wholeBytesMax === undefined ? {} : { wholeBytesMax })
  expect(report).toMatchObject({
    keys: 11,
    expired: 0,
    foreign: 1,
    before: { waiting: 2_000 },
    after: { waiting: 2_000 },
  })
  expect(report.bytes).toBeGreaterThan(100_000)
  expect(await contents(to)).toEqual(await contents(from))
  expect(await to.pttl('ft:{b}:dying')).toBeGreaterThan(500_000)
  expect(await to.pttl('ft:{a}:text')).toBe(-1)
  expect([await to.exists('somebody:else'), await to.exists(MOVE_KEY)]).toEqual([0, 0])
  // An id that was used before must not be used again.
  await expect(to.xadd('ft:{h}:stream', '2000-1', 'f', 'v')).rejects.toThrow('equal or smaller')
})

test('a target that has anything is refused and left as it is', async () => {
  await fill()
  await to.set('ft:{z}:own', 'kept')
  await expect(move()).rejects.toThrow('the target is not empty: it has 1 keys')
  expect(await to.get('ft:{z}:own')).toBe('kept')
})

test.each(['source', 'target'])('services at the %s are refused by name', async (side) => {
  const url = side === 'source' ? server.url : cluster.target
  const service = connect({ url, name: 'fantail-worker' })
  await whenReady(service)
  await service.set('ft:{8gt}:skew', '0')
  await service.del('ft:{8gt}:skew')
  await expect(move()).rejects.toThrow(
    `services are connected to the ${side} (fantail-worker): stop them first`,
  )
  service.disconnect()
})

test('a move that broke off is repeated, also after the source has changed, and only from the same source', async () => {
  await fill()
  const breakOff = () => {
    throw new Error('broke off')
  }
  await expect(move({ onProgress: breakOff })).rejects.toThrow('broke off')
  await expect(move({ source: 'elsewhere' })).rejects.toThrow('a move from here to this target has not ended')
  await from.del('ft:{a}:text')
  await from.lpop('ft:{g}:list', 7)
  await from.set('ft:{b}:later', '1')
  expect(await move()).toMatchObject({ keys: 11, before: { waiting: 2_000 }, after: { waiting: 2_000 } })
  expect(await contents(to)).toEqual(await contents(from))
  expect([await to.exists('ft:{a}:text'), await to.get('ft:{b}:later')]).toEqual([0, '1'])
})

test('a source that is emptied meanwhile removes nothing that was copied', async () => {
  await fill()
  let flushed: Promise<unknown> | undefined
  const onProgress = ({ keys }: { keys: number }) => {
    if (keys === 11) flushed ??= from.flushall()
  }
  await expect(move({ onProgress })).rejects.toThrow('changes of the source may have been missed')
  await flushed
  await expect(move()).rejects.toThrow('the source is empty')
  expect(await to.get('ft:{c}:number')).toBe('42')
})

test.each<[string, () => Promise<unknown>]>([
  ['adds a message', () => from.rpush('ft:{l}:log:uid', 'm')],
  ['changes an element', () => from.lset('ft:{g}:list', 0, 'other')],
  ['removes a key', () => from.del(LANE)],
  ['lets a key expire', () => from.pexpire('ft:{g}:list', 900_000)],
])('a move fails if a program %s meanwhile, and can be repeated', async (_, write) => {
  await fill()
  let written: Promise<unknown> | undefined
  const onProgress = ({ keys }: { keys: number }) => {
    if (keys === 11) written ??= write()
  }
  await expect(move({ onProgress })).rejects.toThrow('the source changed during the move')
  await written
  await move()
  expect(await contents(to)).toEqual(await contents(from))
  expect(await to.exists(MOVE_KEY)).toBe(0)
})

test('a key that expires while both sides are compared is no difference, but one that lives on without copy is', async () => {
  await fill()
  await move()
  const [soon, late] = ['ft:{b}:soon', 'ft:{b}:dying'].map((key) => Buffer.from(key)) as [Buffer, Buffer]
  for (const redis of [from, to]) await redis.set(soon, 'x', 'PX', 3_000)
  // The target is asked after the source. Meanwhile the source's key expires.
  const asked = new Proxy(to, {
    get(target, name) {
      if (name === 'type') void from.del(soon)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  expect(await differingKeys({ from, to: asked }, [soon, late])).toEqual([])
  await to.del(late)
  expect(await differingKeys({ from, to }, [soon, late])).toEqual([late])
})

test('a key that expires while it is moved is no change', async () => {
  await fill()
  await from.set('ft:{b}:soon', 'x', 'PX', 3_000)
  let gone: Promise<unknown> | undefined
  const onProgress = ({ keys }: { keys: number }) => {
    if (keys > 0) gone ??= from.pexpire('ft:{b}:soon', 1)
  }
  await expect(move({ onProgress })).resolves.toMatchObject({ before: { waiting: 2_000 } })
  await gone
})

test('waiting work is counted by kind', async () => {
  await from
    .pipeline()
    .zadd('ft:{8gt}:retry:a', 1, 'x')
    .rpush('ft:{8gt}:behind:a:g', 'y', 'z')
    .zadd('ft:{8yc}:lease:b', 1, 'w')
    .rpush('ft:{8yc}:log:uid', 'm')
    .rpush('ft:{dispatch-0}:dispatch-0:wait', '1', '2')
    .zadd('ft:{dispatch-0}:dispatch-0:delayed', 1, '3')
    .zadd('ft:{dispatch-0}:dispatch-0:waiting-children', 1, '4')
    .zadd('ft:{g3n}:q:uid:age', 1, 'i', 2, 'j')
    .exec()
  const { before } = await move()
  expect(before).toEqual({ waiting: 3, inFlight: 1, logged: 1, jobs: 4, queued: 2 })
})
