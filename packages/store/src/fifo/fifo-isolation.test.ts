/** Readers of a FIFO log die at some messages. Such a message delays only its own group, and nothing is lost. */
import {
  crashing,
  isolatedGroupsKey,
  isolatedLogKey,
  logKey,
  skewKey,
  startRedis,
  type TestRedis,
} from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  Counts,
  deliveryId,
  dueKey,
  FifoLog,
  FifoReading,
  fifoLogFigures,
  Lanes,
  type LogClaim,
  type LogMoved,
  shardBase,
  shardOf,
  Topics,
} from '../index.ts'
import { topicBytesKey } from '../keys/keys.ts'
import { FIFO_ARN, fifoMessage, makeFifoLane } from './fifo.fixture.ts'

const SHARD = shardOf(FIFO_ARN)
const BASE = shardBase(SHARD)
/** Longer than a reader's lease. */
const LEASE_ENDED_MS = 3_100
/** Longer than a take postpones a lane. */
const POSTPONED_MS = 300
/** Shorter and longer than a group with a missing key waits. */
const [LOCKED_LEAST_MS, LOCKED_ENDED_MS] = [50_000, 61_000]
/** Longer than any delay. */
const DELAYS_ENDED_MS = 301_000

let server: TestRedis
let redis: Redis
let log: FifoLog
let lanes: Lanes
let uid: string
let lane: string
let skewMs: number
/** By hex of the id. */
const texts = new Map<string, string>()

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.url)
  log = new FifoLog(redis)
  lanes = new Lanes(redis)
})
beforeEach(async () => {
  await redis.flushall()
  texts.clear()
  skewMs = 0
  const made = await makeFifoLane(redis)
  uid = made.uid
  lane = made.id
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})

/** The group of a text is its first letter. */
async function publish(...list: string[]): Promise<void> {
  const messages = list.map((text) => fifoMessage(text, text.slice(0, 1)))
  for (const { messageId, message } of messages) texts.set(deliveryId(messageId).toString('hex'), message)
  await log.publish(FIFO_ARN, messages)
}

async function jump(ms: number) {
  skewMs += ms
  await redis.set(skewKey(BASE), skewMs)
}

/** Takes the logs that are due. The lane is full, and is due again a moment later. */
async function take(): Promise<LogClaim[]> {
  const request = { lanesMax: 100, deliveriesMax: 1, othersMax: 0, leaseMs: 20_000, limits: new Map() }
  return (await lanes.take(SHARD, { ...request, logsMax: 10 })).logs
}

const textOf = (id: Buffer) => texts.get(id.toString('hex')) ?? ''
const textsOf = (found: LogMoved) =>
  found.kind === 'moved' ? found.entries.map(({ id }) => textOf(id)) : [found.kind]

interface WorkOptions {
  reading?: FifoReading
  /** The worker dies while it matches this text. */
  killer?: string
}

/** Acts like a worker: it reads the logs that it has claimed, and moves their messages into the lane until it dies. */
async function work({ reading = new FifoReading(redis), killer }: WorkOptions = {}): Promise<void> {
  for (const claim of await take()) {
    let found = await reading.read(SHARD, claim)
    while (found.kind === 'moved' && found.entries.length > 0) {
      if (textsOf(found).includes(killer ?? '')) return
      const messages = found.entries.map(({ id }) => ({ id, to: [0] }))
      found = await reading.move(SHARD, claim, {
        subscriptions: [{ id: lane, sendsFollowers: false }],
        messages,
      })
    }
  }
}

/** Lets workers die at the text until it is isolated. */
async function isolate(killer: string): Promise<void> {
  for (let deaths = 0; (await redis.exists(isolatedGroupsKey(BASE, uid))) === 0; deaths++) {
    if (deaths > 10) throw new Error('it is not isolated')
    await work({ killer })
    await jump(LEASE_ENDED_MS)
  }
}

/** Takes and settles everything in the lane, group by group. Resolves with the texts. */
async function delivered(): Promise<string[]> {
  const arrived: string[] = []
  await jump(POSTPONED_MS)
  for (;;) {
    const limits = new Map<string, number>()
    const request = { lanesMax: 100, deliveriesMax: 100, leaseMs: 20_000, limits }
    const claims = (await lanes.take(SHARD, request)).lanes.flatMap((taken) => taken.claims)
    if (claims.length === 0) return arrived
    arrived.push(...claims.map(({ delivery }) => textOf(delivery)))
    await lanes.settle(
      SHARD,
      claims.map((claim) => ({ ...claim, subscriptionId: lane, to: { op: 'delivered' } })),
    )
  }
}

const ofGroup = (list: string[], group: string) => list.filter((text) => text.startsWith(group))

async function dueIn(member: string): Promise<number> {
  const { now } = await lanes.take(SHARD, { lanesMax: 0, deliveriesMax: 0, leaseMs: 1, limits: new Map() })
  return Number(await redis.zscore(dueKey(BASE), member)) - now
}

test('a message at which workers die holds its own group only; the group follows it in order', async () => {
  await publish('a0', 'b0', 'a1', 'c0', 'a2')
  await isolate('a0')
  await publish('a3', 'b1')
  // The group's next reader dies while it reads other logs, too. They wait until their leases end.
  await work({ killer: 'a0' })
  await jump(LEASE_ENDED_MS)
  await work({ killer: 'a0' })
  expect(await redis.llen(logKey(BASE, uid))).toBe(0)
  const others = await delivered()
  expect([ofGroup(others, 'a'), ofGroup(others, 'b'), ofGroup(others, 'c')]).toEqual([
    [],
    ['b0', 'b1'],
    ['c0'],
  ])
  await jump(DELAYS_ENDED_MS)
  await publish('a4')
  await work()
  await work()
  expect(await delivered()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  expect(await redis.keys(`${BASE}*:${uid}*`)).toEqual(
    expect.not.arrayContaining([expect.stringMatching(/:a$/)]),
  )
  expect(await redis.exists(isolatedGroupsKey(BASE, uid), topicBytesKey(BASE))).toBe(0)
})

test('messages whose key is missing hold their own groups only, and each group keeps its order', async () => {
  await publish('a0', 'b0', 'b1', 'a1', 'c0', 'b2')
  const [claim] = await take()
  if (!claim) throw new Error('the log is due')
  const reading = new FifoReading(redis)
  const read = await reading.read(SHARD, claim)
  if (read.kind !== 'moved') throw new Error('the log is claimed')
  const ids = read.entries.map(({ id }) => id).filter((id) => /^(a0|b1)$/.test(textOf(id)))
  const others = ['b0', 'b1', 'c0', 'b2']
  expect(textsOf(await reading.postpone(SHARD, claim, ids))).toEqual(others)
  expect(textsOf(await reading.postpone(SHARD, claim, ids))).toEqual(others)
  expect(await dueIn(`isolated:${uid}:a`)).toBeGreaterThan(LOCKED_LEAST_MS)
  // The key is still missing a minute later.
  await jump(LOCKED_ENDED_MS)
  const group = (await take()).find((claim) => claim.group === 'a')
  if (!group) throw new Error('the group is due')
  expect(textsOf(await reading.read(SHARD, group))).toEqual(['a0'])
  expect(textsOf(await reading.postpone(SHARD, group, ids))).toEqual([])
  expect(await dueIn(`isolated:${uid}:a`)).toBeGreaterThan(LOCKED_LEAST_MS)
  await jump(LOCKED_ENDED_MS)
  await work()
  const arrived = await delivered()
  expect([ofGroup(arrived, 'a'), ofGroup(arrived, 'b')]).toEqual([
    ['a0', 'a1'],
    ['b0', 'b1', 'b2'],
  ])
  expect(await redis.exists(isolatedGroupsKey(BASE, uid), topicBytesKey(BASE))).toBe(0)
})

test('it is tried alone, each time after a longer delay, which is capped', async () => {
  await publish('a0', 'a1', 'b0')
  await isolate('a0')
  const delays: number[] = []
  for (let deaths = 0; deaths < 12; deaths++) {
    await jump(DELAYS_ENDED_MS)
    const claim = (await take()).find(({ group }) => group === 'a')
    if (!claim) throw new Error('the group is due')
    const reading = new FifoReading(redis)
    expect(textsOf(await reading.read(SHARD, claim))).toEqual(['a0'])
    await jump(LEASE_ENDED_MS)
    const next = (await take()).find(({ group }) => group === 'a')
    if (!next) throw new Error('its lease has ended')
    const found = await reading.read(SHARD, next)
    expect(textsOf(found)).toEqual([])
    const { isolated } = found.kind === 'moved' ? found : {}
    expect(isolated && textOf(isolated.id)).toBe('a0')
    expect(isolated?.failedStarts).toBe(deaths + 3)
    delays.push(isolated?.delayMs ?? 0)
    const left = await dueIn(`isolated:${uid}:a`)
    expect(left).toBeLessThanOrEqual(isolated?.delayMs ?? 0)
    expect(left).toBeGreaterThan((isolated?.delayMs ?? 0) - 2_000)
  }
  expect(delays.map((ms) => ms / 1_000)).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])
})

test('a reader that ends well, or fails and lives, blames no message', async () => {
  await publish('a0', 'b0')
  const reading = new FifoReading(redis)
  for (let starts = 0; starts < 8; starts++) {
    const [claim] = await take()
    if (!claim) throw new Error('the log is due')
    expect(textsOf(await reading.read(SHARD, claim))).toContain('a0')
    if (starts % 2 === 0) await reading.letGo(SHARD, claim)
    else await reading.release(SHARD, claim)
    await jump(LEASE_ENDED_MS)
  }
  expect(await redis.exists(isolatedGroupsKey(BASE, uid))).toBe(0)
})

test('after a death messages are read one by one, until all that the dead reader handled has been moved', async () => {
  const list = Array.from({ length: 102 }, (_, i) => `a${i}`)
  for (let i = 0; i < list.length; i += 10) await publish(...list.slice(i, i + 10))
  await work({ killer: 'a0' })
  await jump(LEASE_ENDED_MS)
  const [claim] = await take()
  if (!claim) throw new Error('its lease has ended')
  const reading = new FifoReading(redis)
  let found = await reading.read(SHARD, claim)
  for (let i = 0; i < 100; i++) {
    expect(textsOf(found)).toEqual([`a${i}`])
    const messages = found.kind === 'moved' ? found.entries.map(({ id }) => ({ id, to: [0] })) : []
    found = await reading.move(SHARD, claim, {
      subscriptions: [{ id: lane, sendsFollowers: false }],
      messages,
    })
  }
  expect(textsOf(found)).toEqual(['a100', 'a101'])
})

test('a message that is too old is counted and goes to no lane, and its group goes on', async () => {
  await publish('a0', 'a1')
  await isolate('a0')
  await jump(DELAYS_ENDED_MS)
  const [claim] = await take()
  if (!claim) throw new Error('the group is due')
  const reading = new FifoReading(redis)
  const found = await reading.read(SHARD, claim)
  const messages =
    found.kind === 'moved' ? found.entries.map(({ id }) => ({ id, to: [], isExpired: true })) : []
  const moved = await reading.move(SHARD, claim, { subscriptions: [], messages })
  expect(textsOf(moved)).toEqual(['a1'])
  expect(moved).toMatchObject({ failedStarts: 0 })
  expect(await new Counts(redis).read()).toEqual({ expired: 1 })
  expect(await redis.keys(`${BASE}msg:*`)).toHaveLength(1)
})

test('the logs of isolated groups are dropped and counted with their topic, at once', async () => {
  await publish('a0', 'a1', 'b0', 'b1', 'c0')
  await isolate('a0')
  await publish('a2', 'b2')
  await new Topics(redis).delete(FIFO_ARN)
  for (let n = 0; n < 3; n++) await take()
  expect(await new Counts(redis).read()).toEqual({ 'discarded:topicDeleted': 4, 'discarded:unsubscribed': 3 })
  const left = (await redis.keys(`${BASE}*`)).filter((key) =>
    /:(log|fifo|isolated|msg|due|bytes)(:|$)/.test(key),
  )
  expect(left).toEqual([])
})

test('the gauge of a log counts its isolated groups', async () => {
  await publish('a0', 'b0', 'a1')
  await isolate('a0')
  await publish('b1')
  const [figures] = await fifoLogFigures(redis)
  expect(figures).toMatchObject({ topicArn: FIFO_ARN, messages: 3 })
  const oldest = [...texts].find(([, text]) => text === 'a0')?.[0] ?? ''
  expect(figures?.oldestPublishedAt).toBe(Number.parseInt(oldest.slice(0, 12), 16))
})

test('a group that waits when the clock is set back does not wait longer than its longest delay', async () => {
  await publish('a0')
  await isolate('a0')
  await redis.set(skewKey(BASE), skewMs - 3_600_000)
  let cursor: string | null = null
  do {
    cursor = (await lanes.sweep(SHARD, { cursor, deliveriesMax: 10, leaseMs: 1_000 })).cursor
  } while (cursor !== null)
  expect(await dueIn(`isolated:${uid}:a`)).toBeLessThanOrEqual(0)
})

const CRASHES = Array.from({ length: 9 }, (_, i) => [i + 1, 'before'] as const).flatMap(
  ([n, at]) =>
    [
      [n, at],
      [n, 'after'],
    ] as [number, 'before' | 'after'][],
)

test.each(CRASHES)('a worker that dies at its move %i (%s) loses and repeats nothing', async (at, when) => {
  await publish('a0', 'b0', 'a1', 'c0', 'b1', 'a2')
  await isolate('a0')
  await publish('a3', 'b2')
  await jump(DELAYS_ENDED_MS)
  let calls = 0
  const dies = (script: string) => script === 'move-log-1' && ++calls === at
  const reading = new FifoReading(crashing(redis, dies, when === 'after'))
  for (let claims = 0; claims < 3; claims++) await work({ reading }).catch(crashed)
  await jump(LEASE_ENDED_MS)
  while ((await redis.exists(logKey(BASE, uid), isolatedLogKey(BASE, uid, 'a'))) > 0) {
    await work()
    await jump(DELAYS_ENDED_MS)
  }
  const arrived = await delivered()
  expect(arrived).toHaveLength(8)
  for (const [group, last] of [
    ['a', 3],
    ['b', 2],
    ['c', 0],
  ] as const)
    expect(ofGroup(arrived, group)).toEqual(Array.from({ length: last + 1 }, (_, i) => `${group}${i}`))
})

function crashed(error: Error): void {
  if (error.message !== 'crashed') throw error
}
