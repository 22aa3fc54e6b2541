/** Groups of a FIFO lane whose head, or whose members about it, were lost or changed in Redis. */
import { freshKey, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { deliveryId, FifoLog, FifoReading, Lanes, Subscriptions, shardBase, shardOf } from '../index.ts'
import { newSubscription } from '../subscriptions/subscriptions.fixture.ts'
import { FIFO_ARN, fifoMessage, makeFifoLane } from './fifo.fixture.ts'

const SHARD = shardOf(FIFO_ARN)
const BASE = shardBase(SHARD)
const LEASE_MS = 20_000
/** Lanes that a take has passed over are due again by then. */
const LATER_MS = 2_000

const { redis } = await useRedis()
const log = new FifoLog(redis)
const reading = new FifoReading(redis)
const lanes = new Lanes(redis)
let id: string
beforeEach(async () => {
  await redis.flushall()
  id = (await makeFifoLane(redis)).id
})

const groupsKey = () => `${BASE}groups:${id}`
const member = (kind: string, name: Buffer | string) => Buffer.concat([Buffer.from(kind), Buffer.from(name)])
const flipped = (head: Buffer) => Buffer.concat([head.subarray(0, 15), Buffer.of((head[15] ?? 0) ^ 1)])

const DAMAGE: Record<string, (head: Buffer) => Promise<unknown>> = {
  'whose head has lost its group': (head) => redis.hdel(groupsKey(), member('d', head)),
  'whose head names another group': (head) => redis.hset(groupsKey(), member('d', head), 'z'),
  'whose name was lost': () => redis.hdel(groupsKey(), 'ga'),
  'that names another head': (head) => redis.hset(groupsKey(), 'ga', flipped(head)),
  'whose head was lost': (head) => redis.zrem(freshKey(BASE, id), head),
  'whose head has a flipped bit': async (head) => {
    await redis.zrem(freshKey(BASE, id), head)
    await redis.zadd(freshKey(BASE, id), 1, flipped(head))
  },
}

/** Publishes to a group and moves the messages into the lane. */
async function publish(group: string, count: number): Promise<Buffer[]> {
  const messages = Array.from({ length: count }, (_, i) => fifoMessage(`${i}`, group))
  await log.publish(FIFO_ARN, messages)
  const ids = messages.map(({ messageId }) => deliveryId(messageId))
  const [claim] = (await take(0)).logs
  if (!claim) throw new Error('no log is due')
  const moved = ids.map((delivery) => ({ id: delivery, to: [0] }))
  await reading.move(SHARD, claim, { subscriptions: [{ id, sendsFollowers: false }], messages: moved })
  return ids
}

const take = (limit = 9) =>
  lanes.take(SHARD, {
    lanesMax: 9,
    deliveriesMax: 9,
    leaseMs: LEASE_MS,
    limits: new Map([[id, limit]]),
    logsMax: 9,
  })

/** Delivers everything that can be claimed, in the order of the claims. */
async function deliver(): Promise<string[]> {
  await redis.incrby(skewKey(BASE), LATER_MS)
  const delivered: string[] = []
  for (;;) {
    const claims = (await take()).lanes.flatMap((lane) => lane.claims)
    if (claims.length === 0) return delivered
    for (const { delivery, lease } of claims) {
      delivered.push(delivery.toString('hex'))
      await lanes.settle(SHARD, [{ subscriptionId: id, delivery, lease, to: { op: 'delivered' } }])
    }
  }
}

const inHex = (ids: Buffer[]) => ids.map((delivery) => delivery.toString('hex'))

test.each(Object.keys(DAMAGE))('a group %s goes on with what waits, beside another group', async (name) => {
  const other = await publish('b', 2)
  const [head = Buffer.alloc(0), ...behind] = await publish('a', 3)
  await DAMAGE[name]?.(head)
  const delivered = await deliver()
  expect(delivered.filter((hex) => inHex(other).includes(hex))).toEqual(inHex(other))
  await lanes.sweep(SHARD, { cursor: null, deliveriesMax: 9, leaseMs: LEASE_MS })
  delivered.push(...(await deliver()))
  expect(delivered.filter((hex) => inHex(behind).includes(hex))).toEqual(inHex(behind))
})

test.each(Object.keys(DAMAGE))('a group %s goes on when something is published to it', async (name) => {
  const [head = Buffer.alloc(0), ...behind] = await publish('a', 3)
  await DAMAGE[name]?.(head)
  const expected = inHex([...behind, ...(await publish('a', 2))])
  expect((await deliver()).filter((hex) => expected.includes(hex))).toEqual(expected)
})

test('a sweep looks at few groups of each lane where there are many lanes', async () => {
  const ids = [id]
  while (ids.length < 30)
    ids.push(
      (await new Subscriptions(redis).create(newSubscription(FIFO_ARN, `s${ids.length}`))).subscription.id,
    )
  const messages = Array.from({ length: 50 }, (_, i) => fifoMessage(`${i}`, `${i}`))
  await log.publish(FIFO_ARN, messages)
  const [claim] = (await take(0)).logs
  if (!claim) throw new Error('no log is due')
  const to = ids.map((_, i) => i)
  const moved = messages.map(({ messageId }) => ({ id: deliveryId(messageId), to }))
  const subscriptions = ids.map((of) => ({ id: of, sendsFollowers: false }))
  await reading.move(SHARD, claim, { subscriptions, messages: moved })
  await redis.config('RESETSTAT')
  let cursor: string | null = null
  do ({ cursor } = await lanes.sweep(SHARD, { cursor, deliveriesMax: 9, leaseMs: LEASE_MS }))
  while (cursor)
  const calls = Number(/cmdstat_zscore:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1])
  expect(calls).toBeLessThan(2_000)
})
