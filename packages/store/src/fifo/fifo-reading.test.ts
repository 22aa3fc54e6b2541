import { behindKey, fifoKey, freshKey, logKey, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import {
  Counts,
  deliveryId,
  FifoLog,
  FifoReading,
  Lanes,
  type LogClaim,
  type LogMove,
  laneKey,
  messageKey,
  Subscriptions,
  shardBase,
  shardOf,
  Topics,
} from '../index.ts'
import { dueKey, topicBytesKey } from '../keys/keys.ts'
import { newSubscription } from '../subscriptions/subscriptions.fixture.ts'
import { FIFO_ARN, fifoMessage, makeFifoTopic } from './fifo.fixture.ts'

const SHARD = shardOf(FIFO_ARN)
const BASE = shardBase(SHARD)

let uid: string

const { redis } = await useRedis()
const log = new FifoLog(redis)
const reading = new FifoReading(redis)
const lanes = new Lanes(redis)
const subscriptions = new Subscriptions(redis)
beforeEach(async () => {
  await redis.flushall()
  uid = (await makeFifoTopic(redis)).uid
})

/** Publishes one message for each text, to group `a` or as `group:text`. Returns the ids. */
async function publish(...texts: string[]): Promise<Buffer[]> {
  const messages = texts.map((text) =>
    fifoMessage(text, text.includes(':') ? text.slice(0, text.indexOf(':')) : 'a'),
  )
  await log.publish(FIFO_ARN, messages)
  return messages.map(({ messageId }) => deliveryId(messageId))
}

async function subscribe(name: string): Promise<string> {
  const { subscription } = await subscriptions.create({ ...newSubscription(FIFO_ARN, name) })
  // The endpoint is proven, so its lane need not wait in `unproven`.
  await redis.hset(laneKey(BASE, subscription.id), 'a', '1')
  return subscription.id
}

function take(options: { logsMax?: number; limits?: Map<string, number> } = {}) {
  return lanes.take(SHARD, {
    lanesMax: 100,
    deliveriesMax: 1_000,
    leaseMs: 20_000,
    limits: new Map(),
    logsMax: 10,
    ...options,
  })
}

async function claimLog(): Promise<LogClaim> {
  const [claim] = (await take()).logs
  if (!claim) throw new Error('no log is due')
  return claim
}

function moveOf(ids: string[], messages: Buffer[], sendsFollowers = false): LogMove {
  const to = ids.map((_, i) => i)
  return {
    subscriptions: ids.map((id) => ({ id, sendsFollowers })),
    messages: messages.map((id) => ({ id, to })),
  }
}

async function jump(ms: number) {
  await redis.set(skewKey(BASE), ms)
}

const textsOf = (found: Awaited<ReturnType<FifoReading['read']>>) =>
  found.kind === 'moved' ? found.entries.map(({ body }) => JSON.parse(String(body)).message) : found.kind

test('a log with messages is claimed for one reader, which moves them into lanes and gets the next ones', async () => {
  const id = await subscribe('s')
  const messages = await publish('1', '2', '3')
  const claim = await claimLog()
  expect(claim).toMatchObject({ uid, topicArn: FIFO_ARN })
  expect((await take()).logs).toEqual([])
  expect(textsOf(await reading.read(SHARD, claim))).toEqual(['1', '2', '3'])
  const moved = await reading.move(SHARD, claim, moveOf([id], messages.slice(0, 2)))
  expect(textsOf(moved)).toEqual(['3'])
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([messages[0]])
  expect(await redis.lrangeBuffer(behindKey(BASE, id, 'a'), 0, -1)).toEqual([messages[1]])
  expect(textsOf(await reading.move(SHARD, claim, moveOf([id], messages.slice(2))))).toEqual([])
  expect(await redis.zscore(dueKey(BASE), `log:${uid}`)).toBe(null)
})

test('a message for no subscription leaves the log, and its body with it', async () => {
  const [message] = await publish('1')
  const claim = await claimLog()
  if (!message) throw new Error('one was published')
  expect(textsOf(await reading.move(SHARD, claim, moveOf([], [message])))).toEqual([])
  expect(await redis.exists(messageKey(BASE, message), logKey(BASE, uid), topicBytesKey(BASE))).toBe(0)
})

test('a move whose reply was lost can be made again and moves nothing twice', async () => {
  const id = await subscribe('s')
  const messages = await publish('1', '2', '3')
  const claim = await claimLog()
  const first = await reading.move(SHARD, claim, moveOf([id], messages.slice(0, 2)))
  expect(await reading.move(SHARD, claim, moveOf([id], messages.slice(0, 2)))).toMatchObject({
    entries: first.kind === 'moved' && first.entries,
  })
  expect(await redis.lrangeBuffer(behindKey(BASE, id, 'a'), 0, -1)).toEqual([messages[1]])
})

test('a move ends where Redis lost what was read and holds what was published since', async () => {
  const id = await subscribe('s')
  const messages = await publish('1', '2', '3')
  const claim = await claimLog()
  await reading.read(SHARD, claim)
  await redis.rpop(logKey(BASE, uid), 2)
  const [later] = await publish('4')
  expect(textsOf(await reading.move(SHARD, claim, moveOf([id], messages)))).toEqual(['4'])
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([messages[0]])
  expect(await redis.exists(behindKey(BASE, id, 'a'))).toBe(0)
  if (!later) throw new Error('one was published')
  expect(textsOf(await reading.move(SHARD, claim, moveOf([id], [later])))).toEqual([])
  expect(await redis.lrangeBuffer(behindKey(BASE, id, 'a'), 0, -1)).toEqual([later])
})

test('the log of a reader that died is claimed again after 3 s, and a zombie’s move is refused', async () => {
  const id = await subscribe('s')
  const messages = await publish('1')
  const zombie = await claimLog()
  const { nextDueAt, now } = await take()
  expect((nextDueAt ?? 0) - now).toBeLessThanOrEqual(3_000)
  await jump(3_100)
  const claim = await claimLog()
  expect(claim.fence).toBe(zombie.fence + 1)
  expect(await reading.move(SHARD, zombie, moveOf([id], messages))).toEqual({ kind: 'stale' })
  expect(textsOf(await reading.move(SHARD, claim, moveOf([id], messages)))).toEqual([])
  expect(await redis.zcard(freshKey(BASE, id))).toBe(1)
})

test('each move renews the lease; a reader that ends leaves the log to others at once', async () => {
  await publish('1')
  const claim = await claimLog()
  await jump(2_500)
  await reading.read(SHARD, claim)
  await jump(5_000)
  expect((await take()).logs).toEqual([])
  await reading.letGo(SHARD, claim)
  expect((await claimLog()).fence).toBe(claim.fence + 1)
})

test('a worker with readers enough leaves a log for a while, without asking for it again and again', async () => {
  await publish('1')
  const taken = await take({ logsMax: 0 })
  expect(taken.logs).toEqual([])
  expect((taken.nextDueAt ?? 0) - taken.now).toBeGreaterThan(200)
  await jump(300)
  expect((await take()).logs).toHaveLength(1)
})

test('a read is bounded by bytes, but for its first message', async () => {
  const long = 'x'.repeat(700_000)
  await publish(long, long, 'short')
  const found = await reading.read(SHARD, await claimLog())
  expect(textsOf(found)).toEqual([long])
})

test('a deleted topic’s log is dropped in steps and counted, and its reader gets an error', async () => {
  const id = await subscribe('s')
  await publish('1')
  const claim = await claimLog()
  for (let n = 0; n < 25; n++) await publish(...Array.from({ length: 100 }, (_, i) => `${n}.${i}`))
  await new Topics(redis).delete(FIFO_ARN)
  const messages = [Buffer.alloc(16)]
  expect(await reading.move(SHARD, claim, moveOf([id], messages))).toEqual({ kind: 'gone' })
  expect((await take()).discarded).toBe(1_000)
  expect((await take()).discarded).toBe(1_000)
  expect((await take()).discarded).toBe(501)
  expect(await new Counts(redis).read()).toEqual({ 'discarded:topicDeleted': 2_501 })
  expect(await redis.exists(logKey(BASE, uid), fifoKey(BASE, uid), dueKey(BASE), topicBytesKey(BASE))).toBe(0)
  expect(await redis.keys(`${BASE}msg:*`)).toEqual([])
})

test('a topic deleted with an empty log leaves nothing, and a new one of its name has a new log', async () => {
  await publish('1')
  const claim = await claimLog()
  await reading.move(SHARD, claim, moveOf([], await redisIds()))
  await new Topics(redis).delete(FIFO_ARN)
  expect(await redis.exists(fifoKey(BASE, uid))).toBe(0)
  const again = await makeFifoTopic(redis)
  await publish('2')
  expect(await claimLog()).toMatchObject({ uid: again.uid, fence: 1 })
})

async function redisIds(): Promise<Buffer[]> {
  const entries = await redis.lrangeBuffer(logKey(BASE, uid), 0, -1)
  return entries.map((entry) => entry.subarray(0, 16))
}

test('a deleted subscription’s groups are discarded in steps, also behind what is in flight', async () => {
  const id = await subscribe('s')
  const texts = Array.from({ length: 2_500 }, (_, i) => `${['a', 'b', 'c'][i % 3]}:${i}`)
  let claim: LogClaim | undefined
  for (let i = 0; i < texts.length; i += 100) {
    const ids = await publish(...texts.slice(i, i + 100))
    claim ??= await claimLog()
    await reading.move(SHARD, claim, moveOf([id], ids))
  }
  const [lane] = (await take({ limits: new Map([[id, 1]]) })).lanes
  expect(lane?.claims).toHaveLength(1)
  await subscriptions.delete(id)
  expect((await take()).discarded).toBe(1_000)
  expect((await take()).discarded).toBe(1_000)
  const [taken] = lane?.claims ?? []
  if (!taken) throw new Error('one was claimed')
  await lanes.settle(SHARD, [{ ...taken, subscriptionId: id, to: { op: 'delivered' } }])
  expect((await take()).discarded).toBe(499)
  expect(await redis.keys(`${BASE}*${id}*`)).toEqual([])
  expect(await redis.keys(`${BASE}msg:*`)).toEqual([])
})

test('messages in the log are moved and settled when memory is full', async () => {
  const id = await subscribe('s')
  const messages = await publish('1', '2')
  await redis.config('SET', 'maxmemory', '1')
  const claim = await claimLog()
  await reading.move(SHARD, claim, moveOf([id], messages))
  const [first] = (await take()).lanes[0]?.claims ?? []
  if (!first) throw new Error('the head is due')
  const settled = await lanes.settle(SHARD, [{ ...first, subscriptionId: id, to: { op: 'delivered' } }])
  expect(settled.accepted).toEqual([true])
  expect((await take()).lanes[0]?.claims[0]?.delivery).toEqual(messages[1])
  await redis.config('SET', 'maxmemory', '0')
})

test('behind a claimed head its group may be sent along where that is allowed, and is settled with it', async () => {
  const id = await subscribe('s')
  const messages = await publish('1', '2', 'b:1', '3')
  await reading.move(SHARD, await claimLog(), moveOf([id], messages, true))
  const claims = (await take()).lanes[0]?.claims ?? []
  const head = claims.find(({ delivery }) => delivery.equals(messages[0] ?? delivery))
  expect(head?.followers).toEqual([messages[1], messages[3]])
  expect(claims.find((claim) => claim !== head)).toEqual(
    expect.not.objectContaining({ followers: expect.anything() }),
  )
  if (!head?.followers) throw new Error('a head with followers was claimed')
  await lanes.settle(SHARD, [
    { ...head, subscriptionId: id, to: { op: 'delivered', followers: head.followers.slice(0, 1) } },
  ])
  expect(await redis.zrangeBuffer(freshKey(BASE, id), '0', '-1')).toEqual([messages[3]])
  expect(await redis.hget(laneKey(BASE, id), 'b')).toBe('0')
})

test('followers are bounded by bytes, and only their own messages are read', async () => {
  const id = await subscribe('s')
  const messages = await publish(...Array.from({ length: 10 }, (_, i) => `${i}${'x'.repeat(250_000)}`))
  await reading.move(SHARD, await claimLog(), moveOf([id], messages, true))
  const [head] = (await take()).lanes[0]?.claims ?? []
  expect(head?.followers).toEqual(messages.slice(1, 4))
})

test('a retry at a bounded rate leaves a gap for everything that follows a head', async () => {
  const id = await subscribe('s')
  const messages = await publish('a:1', 'a:2', 'a:3', 'b:1')
  await reading.move(SHARD, await claimLog(), moveOf([id], messages))
  const claims = (await take()).lanes[0]?.claims ?? []
  const state = { kind: 'retry', attempts: 1, statusCode: 503, error: null } as const
  const failed = claims.map((claim) => {
    const delayMs = claim.delivery.equals(messages[0] ?? claim.delivery) ? 60_000 : 60_001
    return { ...claim, subscriptionId: id, to: { op: 'retry', delayMs, state } as const }
  })
  await lanes.settle(SHARD, failed)
  expect(await lanes.retryNow(SHARD, id, { maxPerSecond: 10 })).toBe(4)
  const due = await redis.zrange(`${BASE}retry:${id}`, '0', '-1', 'WITHSCORES')
  expect(Number(due[3]) - Number(due[1])).toBe(300)
})
