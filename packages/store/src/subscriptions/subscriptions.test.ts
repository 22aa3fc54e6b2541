import { FantailError, queueArn, type SubscriptionRecord } from '@fantail/contracts'
import { freshKey, skewKey, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { Redis } from 'ioredis'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createConfirmationToken,
  laneKey,
  placeOfSubscription,
  SHARD_COUNT,
  Snapshots,
  Subscriptions,
  shardBase,
  subscriptionsKey,
  TopicFullError,
  Topics,
} from '../index.ts'
import { dueKey, unprovenKey } from '../keys/keys.ts'
import { indexFaults, newSubscription, topicName } from './subscriptions.fixture.ts'

const ARN = topicName('events')
const SLICE = { sliceSubscriptionsMax: 3 }
/** The same tests on other connections. */

const { server, redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, SLICE)
const snapshots = new Snapshots(redis)
const connections = [redis, redis.duplicate(), redis.duplicate()]
const clients = connections.map((connection) => new Subscriptions(connection, SLICE))
beforeEach(async () => {
  await redis.flushall()
  await topics.put(ARN, {})
})
afterAll(async () => {
  for (const connection of connections) connection.disconnect()
})

async function create(endpoint: number | string, set = {}): Promise<SubscriptionRecord> {
  return (await subscriptions.create(newSubscription(ARN, endpoint, set))).subscription
}

const counts = async () => (await topics.getWithCounts(ARN))?.subscriptions
const handshake = (token: string, tokenExpiresAt: number) => ({
  confirmation: 'handshake' as const,
  token,
  tokenExpiresAt,
})

describe('creation', () => {
  test('may be paused from the start, in the topic’s shard and in others, with its lane and its count', async () => {
    const made = []
    for (let n = 0; n < 5; n++) made.push(await create(n, { status: 'paused' }))
    const shards = made.map(({ id }) => placeOfSubscription(id)?.shard ?? -1)
    expect(new Set(shards).size).toBeGreaterThan(1)
    const lanes = made.map(({ id }, i) => redis.hget(laneKey(shardBase(shards[i] ?? -1), id), 'p'))
    expect(await Promise.all(lanes)).toEqual(made.map(() => '1'))
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 'paused'))
    expect(await counts()).toMatchObject({ active: 0, paused: 5 })
    const { id } = await subscriptions.update(made[0]?.id ?? '', () => ({ status: 'active' }))
    expect(await redis.hget(laneKey(shardBase(shards[0] ?? -1), id), 'p')).toBe('')
    expect(await indexFaults(redis)).toEqual([])
  })

  test('keeps everything that was given and finds it by id', async () => {
    const given = {
      rawMessageDelivery: true,
      deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 3 } },
      redrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:dlq' },
      maxInFlight: 5,
      filterPolicy: { store: ['a', { prefix: 'b' }] },
      filterPolicyScope: 'MessageBody' as const,
      confirmationWasAuthenticated: true as const,
      authenticateOnUnsubscribe: true as const,
      attributes: { a: 'b' },
      ...handshake('t0', Date.now() + 60_000),
    }
    const made = await create('HTTPS://Example.com', given)
    expect(made).toMatchObject({ ...given, topicArn: ARN, status: 'pending', unsubscribed: false, bit: 0 })
    expect(made.arn).toBe(`${ARN}:${made.id}`)
    expect(made.createdAt).toBeGreaterThan(Date.now() - 60_000)
    expect(await subscriptions.get(made.id)).toEqual(made)
    const place = placeOfSubscription(made.id)
    expect(await subscriptions.locate(made.id)).toEqual({
      sliceId: place?.sliceId,
      shard: place?.shard,
      topicArn: ARN,
    })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('answers the one that exists for the same endpoint, in the first slice and in others', async () => {
    for (let i = 0; i < 5; i++) {
      const made = await create(i)
      expect(await subscriptions.create(newSubscription(ARN, i, { maxInFlight: 9 }))).toEqual({
        subscription: made,
        created: false,
      })
    }
    const other = newSubscription(ARN, 0, { protocol: 'http' })
    expect(await subscriptions.create(other)).toMatchObject({
      created: true,
      subscription: { protocol: 'http' },
    })
    expect(await counts()).toEqual({ active: 6, pending: 0, paused: 0 })
  })

  test('every lane knows how long it keeps deliveries, in any slice', async () => {
    for (let i = 0; i < 4; i++) {
      const queue = newSubscription(ARN, queueArn(`work-${i}`), { protocol: 'sqs' })
      const webhook = newSubscription(ARN, `HTTPS://example.com/hooks/${i}`)
      for (const [input, floor] of [
        [queue, '2592000'],
        [webhook, '0'],
      ] as const) {
        const { id } = (await subscriptions.create(input)).subscription
        const place = await subscriptions.locate(id)
        if (!place) throw new Error('it was created')
        expect(await redis.hget(laneKey(shardBase(place.shard), id), 'l')).toBe(floor)
      }
    }
  })

  test('needs the topic', async () => {
    const missing = subscriptions.create(newSubscription(topicName('none'), 0))
    await expect(missing).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a single one of many simultaneous creations of an endpoint creates, whichever slice it falls in', async () => {
    const inputs = Array.from({ length: 7 }, (_, i) => newSubscription(ARN, i))
    const rounds = inputs.flatMap((input) => [...clients, ...clients].map((client) => client.create(input)))
    const results = await Promise.all(rounds)
    expect(results.filter((result) => result.created)).toHaveLength(7)
    expect(new Set(results.map((result) => result.subscription.id)).size).toBe(7)
    expect(await counts()).toEqual({ active: 7, pending: 0, paused: 0 })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('fills slices before it opens one, and reuses bits', async () => {
    const made = await Promise.all(Array.from({ length: 7 }, (_, i) => create(i)))
    const slices = new Map<string, number[]>()
    for (const { id, bit } of made) {
      const sliceId = placeOfSubscription(id)?.sliceId ?? ''
      slices.set(sliceId, [...(slices.get(sliceId) ?? []), bit].sort())
    }
    expect([...slices.values()].sort((a, b) => b.length - a.length)).toEqual([[0, 1, 2], [0, 1, 2], [0]])
    const leaver = made.find(({ id, bit }) => placeOfSubscription(id)?.sliceNumber === 0 && bit === 1)
    if (!leaver) throw new Error('the first slice has a bit 1')
    await subscriptions.delete(leaver.id)
    const next = await create('https://example.com/next')
    expect(placeOfSubscription(next.id)?.sliceNumber).toBe(0)
    expect(next.bit).toBe(1)
    expect(next.id).not.toBe(leaver.id)
  })

  test('slices go round the shards', async () => {
    const one = new Subscriptions(redis, { sliceSubscriptionsMax: 1 })
    const made = []
    for (let i = 0; i < SHARD_COUNT + 2; i++)
      made.push((await one.create(newSubscription(ARN, i))).subscription)
    const [first, last] = [made[0], made[SHARD_COUNT]].map((record) => placeOfSubscription(record?.id ?? ''))
    expect(last).toMatchObject({ sliceNumber: SHARD_COUNT, shard: first?.shard })
    await topics.patch(ARN, { retentionSeconds: 99 })
    expect(await indexFaults(redis, 1)).toEqual([])
    for (const { id } of made) expect(await subscriptions.delete(id)).toBe(true)
    expect(await indexFaults(redis, 1)).toEqual([])
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 0 })
  })

  test('a FIFO topic takes a hundred, all in its home shard', async () => {
    const arn = topicName('ordered.fifo')
    await topics.put(arn, {})
    const many = new Subscriptions(redis)
    const made = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => (await many.create(newSubscription(arn, i))).subscription),
    )
    expect(new Set(made.map(({ id }) => placeOfSubscription(id)?.sliceNumber))).toEqual(new Set([0]))
    await expect(many.create(newSubscription(arn, 100))).rejects.toBeInstanceOf(TopicFullError)
    await many.delete(made[0]?.id ?? '')
    expect((await many.create(newSubscription(arn, 100))).created).toBe(true)
  })

  test('an endpoint left through its link can be subscribed again', async () => {
    const made = await create(0)
    const token = createConfirmationToken((await topics.get(ARN))?.uid ?? '')
    await subscriptions.update(made.id, () => ({ unsubscribed: true, token, tokenExpiresAt: 9e12 }))
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 0 })
    const again = await subscriptions.create(newSubscription(ARN, 0))
    expect(again.created).toBe(true)
    expect(again.subscription.id).not.toBe(made.id)
    expect(await subscriptions.findByToken(token)).toBeNull()
    expect(await indexFaults(redis)).toEqual([])
  })
})

describe('a change', () => {
  test('moves counts, lane and revisions with the record', async () => {
    for (let i = 0; i < 4; i++) {
      const made = await create(i)
      const ref = await subscriptions.locate(made.id)
      if (!ref) throw new Error('it was made')
      const before = [await snapshots.sliceRevisions([ref]), await snapshots.topicRevisions([ARN])]
      const paused = await subscriptions.update(made.id, () => ({ status: 'paused' }))
      expect(paused).toEqual({ ...made, status: 'paused' })
      expect(await subscriptions.get(made.id)).toEqual(paused)
      const lane = laneKey(shardBase(ref.shard), made.id)
      expect(await redis.hget(lane, 'p')).toBe('1')
      const after = [await snapshots.sliceRevisions([ref]), await snapshots.topicRevisions([ARN])]
      expect(after[0]).not.toEqual(before[0])
      expect(after[1]).not.toEqual(before[1])
    }
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 4 })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('writes nothing if it changes nothing', async () => {
    const made = await create(0)
    const before = await snapshots.topicRevisions([ARN])
    expect(await subscriptions.update(made.id, () => ({ status: 'active' }))).toEqual(made)
    expect(await snapshots.topicRevisions([ARN])).toEqual(before)
  })

  test('cannot touch identity, endpoint or bit', async () => {
    const made = await create(0)
    const set = { id: 'x', arn: 'x', topicArn: 'x', endpoint: 'x', bit: 7, createdAt: 1, maxInFlight: 4 }
    expect(await subscriptions.update(made.id, () => set)).toEqual({ ...made, maxInFlight: 4 })
  })

  test('is never lost among many at a time', async () => {
    const ids = [await create(0), await create(1), await create(2), await create(3)].map(({ id }) => id)
    const raise = (current: SubscriptionRecord) => ({ maxInFlight: current.maxInFlight + 1 })
    const updates = ids.flatMap((id) =>
      clients.flatMap((client) => new Array(8).fill(client.update.bind(client, id, raise))),
    )
    await Promise.all(updates.map((update) => update()))
    for (const id of ids) expect((await subscriptions.get(id))?.maxInFlight).toBe(32 + clients.length * 8)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('is not_found for an unknown subscription', async () => {
    const made = await create(0)
    const near = made.id.slice(0, -1) + (made.id.endsWith('0') ? '1' : '0')
    for (const id of [near, 'nonsense', 'ffffffff-0000-8000-8000-000000000000']) {
      const update = subscriptions.update(id, () => ({}))
      await expect(update).rejects.toMatchObject({ code: 'not_found' })
      expect(await subscriptions.get(id)).toBeNull()
      expect(await subscriptions.locate(id)).toBeNull()
      expect(await subscriptions.delete(id)).toBe(false)
    }
  })

  test('an error of the callback changes nothing', async () => {
    const made = await create(0)
    const refuse = () => {
      throw new FantailError('wrong_state', 'no')
    }
    await expect(subscriptions.update(made.id, refuse)).rejects.toMatchObject({ code: 'wrong_state' })
    expect(await subscriptions.get(made.id)).toEqual(made)
  })

  test('resuming makes the lane due and wakes the workers', async () => {
    const subscriber = new Redis(server.url)
    const woken: string[] = []
    subscriber.on('message', (_, message: string) => woken.push(message))
    await subscriber.subscribe('ft:wake:lanes')
    const made = []
    for (let i = 0; i < 4; i++) made.push(await create(i))
    for (const { id } of [made[0], made[3]].filter((record) => record !== undefined)) {
      const base = shardBase(placeOfSubscription(id)?.shard ?? 0)
      await subscriptions.update(id, () => ({ status: 'paused' }))
      await redis.zadd(freshKey(base, id), 1, Buffer.alloc(16))
      await subscriptions.update(id, () => ({ maxInFlight: 4 }))
      expect(await redis.zscore(unprovenKey(base), id)).toBeNull()
      await subscriptions.update(id, () => ({ status: 'active' }))
      expect(await redis.zscore(unprovenKey(base), id)).not.toBeNull()
    }
    await waitFor(() => woken.length >= 2, { what: 'two wakes' })
    subscriber.disconnect()
    const shards = [made[0], made[3]].map((record) => String(placeOfSubscription(record?.id ?? '')?.shard))
    expect(woken.map((message) => message.split(':')[0])).toEqual(shards)
  })

  test("a topic's new throttle moves the due times of its lanes", async () => {
    const made = []
    for (let i = 0; i < 4; i++) made.push(await create(i))
    const lanes = made.map(({ id }) => ({ id, base: shardBase(placeOfSubscription(id)?.shard ?? 0) }))
    const now = Date.now()
    for (const { id, base } of lanes) {
      await redis.zadd(freshKey(base, id), 1, Buffer.alloc(16))
      await redis.zadd(unprovenKey(base), 1, id)
      await redis.hset(laneKey(base, id), 'x', now + 60_000)
    }
    const throttle = (rate: number) => ({
      deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: rate } },
    })
    await topics.patch(ARN, throttle(0.01))
    for (const { id, base } of lanes) {
      expect(Number(await redis.zscore(unprovenKey(base), id))).toBeGreaterThan(now + 30_000)
    }
    await topics.patch(ARN, { deliveryPolicy: null })
    for (const { id, base } of lanes) {
      expect(Number(await redis.zscore(unprovenKey(base), id))).toBeLessThan(now + 30_000)
    }
  })
})

describe('deletion', () => {
  test('closes the lane, frees endpoint and bit, and happens once', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, (_, i) => create(i)))
    for (const { id } of made) {
      const base = shardBase(placeOfSubscription(id)?.shard ?? 0)
      await redis.zadd(freshKey(base, id), 1, Buffer.alloc(16))
      const results = await Promise.all([subscriptions.delete(id), subscriptions.delete(id)])
      expect(results.sort()).toEqual([false, true])
      expect(await redis.hget(laneKey(base, id), 'g')).toBe('1')
      expect(await redis.zscore(dueKey(base), id)).not.toBeNull()
      await redis.del(laneKey(base, id), freshKey(base, id))
    }
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 0 })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('removes a subscription whose record cannot be read, and all that belongs to it', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, (_, i) => create(i, handshake(`t${i}`, 9e12))))
    for (const [i, { id }] of made.entries()) {
      const { shard = 0, sliceId = '' } = placeOfSubscription(id) ?? {}
      const key = subscriptionsKey(shardBase(shard), sliceId)
      const text = (await redis.hget(key, id)) ?? ''
      // Some are JSON still.
      await redis.hset(key, id, i % 2 === 0 ? text.slice(0, 9) : text.replace('/hooks/', '/hooky/'))
    }
    const results: boolean[] = []
    for (const { id } of made) results.push(await subscriptions.delete(id), await subscriptions.delete(id))
    expect(results).toEqual(made.flatMap(() => [true, false]))
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 0 })
    expect(await indexFaults(redis)).toEqual([])
    await create(1)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('many creations, changes and deletions at once leave everything in order', async () => {
    const work = Array.from({ length: 120 }, async (_, i) => {
      const client = clients[i % 3] ?? subscriptions
      const set = i % 4 === 0 ? handshake(`t${i}`, Date.now() + 60_000) : {}
      const { subscription } = await client.create(newSubscription(ARN, i % 17, set))
      const change = client.update(subscription.id, () => ({ status: i % 2 ? 'paused' : 'active' }))
      await change.catch((error: unknown) => expect(error).toMatchObject({ code: 'not_found' }))
      if (i % 3 === 0) await client.delete(subscription.id)
      if (i % 40 === 0) await topics.patch(ARN, { retentionSeconds: 100 + i })
    })
    await Promise.all(work)
    expect(await indexFaults(redis)).toEqual([])
    const { items } = await subscriptions.list({ topicArn: ARN, limit: 100 })
    expect((await counts())?.active).toBe(items.filter((item) => item.status === 'active').length)
    await Promise.all(items.map(({ id }) => subscriptions.delete(id)))
    expect(await counts()).toEqual({ active: 0, pending: 0, paused: 0 })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('creations while the topic is deleted leave nothing behind', async () => {
    for (let round = 0; round < 5; round++) {
      const creations = Array.from({ length: 9 }, (_, i) => create(i).catch((error: unknown) => error))
      await Promise.all([...creations, topics.delete(ARN)])
      expect(await indexFaults(redis)).toEqual([])
      await topics.put(ARN, {})
    }
  })
})

describe('tokens', () => {
  test('find their subscription, also after they were replaced', async () => {
    const uid = (await topics.get(ARN))?.uid ?? ''
    for (let i = 0; i < 4; i++) {
      const [first, second] = [createConfirmationToken(uid), createConfirmationToken(uid)]
      const made = await create(i, handshake(first, 9e12))
      expect(await subscriptions.findByToken(first)).toEqual(made)
      expect(await subscriptions.findByToken(second)).toBeNull()
      await subscriptions.update(made.id, () => ({ token: second }))
      expect(await subscriptions.findByToken(first)).toBeNull()
      const active = await subscriptions.update(made.id, () => ({ status: 'active' }))
      expect(await subscriptions.findByToken(second)).toEqual(active)
    }
    for (const text of ['', 'ab', 'f'.repeat(288), 'x'.repeat(288)]) {
      expect(await subscriptions.findByToken(text)).toBeNull()
    }
    expect(await indexFaults(redis)).toEqual([])
  })

  test('[65] end only pending and unsubscribed subscriptions when they expire', async () => {
    const soon = Date.now() + 60_000
    for (let i = 0; i < 4; i++) await create(`https://example.com/p${i}`, handshake(`p${i}`, soon))
    const confirmed = await create(5, handshake('c', soon))
    await subscriptions.update(confirmed.id, () => ({ status: 'active' }))
    const left = await create(6)
    await subscriptions.update(left.id, () => ({ unsubscribed: true, token: 'u', tokenExpiresAt: soon }))
    const later = await create(7, handshake('l', soon + 60_000_000))
    expect(await subscriptions.expirePending()).toBe(0)
    await setSkew(61_000)
    expect(await subscriptions.expirePending()).toBe(5)
    expect(await subscriptions.expirePending()).toBe(0)
    const { items } = await subscriptions.list({ limit: 100 })
    expect(items.map(({ id }) => id).sort()).toEqual([confirmed.id, later.id].sort())
    await setSkew(0)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('a confirmation at the moment of expiry wins or loses, never both', async () => {
    await setSkew(0)
    const made = await Promise.all(Array.from({ length: 12 }, (_, i) => create(i, handshake(`t${i}`, 1))))
    const confirm = (current: SubscriptionRecord) => {
      if (current.unsubscribed || current.token === null) throw new FantailError('not_found', 'too late')
      return { status: 'active' as const }
    }
    const confirmations = made.map(({ id }) =>
      subscriptions.update(id, confirm).then(
        () => id,
        () => undefined,
      ),
    )
    const [expired, ...confirmed] = await Promise.all([subscriptions.expirePending(), ...confirmations])
    const { items } = await subscriptions.list({ limit: 100 })
    const winners = confirmed.filter((id) => id !== undefined)
    expect(items.map(({ id }) => id).sort()).toEqual(winners.sort())
    expect(Number(expired) + winners.length).toBe(12)
    await setSkew(0)
    expect(await indexFaults(redis)).toEqual([])
  })

  async function setSkew(ms: number): Promise<void> {
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      if (ms === 0) await redis.del(skewKey(shardBase(shard)))
      else await redis.set(skewKey(shardBase(shard)), ms)
    }
  }
})

describe('lists', () => {
  async function walk(
    request: Parameters<Subscriptions['list']>[0],
    between: (page: number) => Promise<void>,
  ) {
    const seen: string[] = []
    let cursor: string | undefined
    for (let page = 0; cursor !== undefined || page === 0; page++) {
      const { items, nextCursor } = await subscriptions.list({ ...request, cursor })
      expect(items.length).toBeLessThanOrEqual(request.limit)
      seen.push(...items.map(({ id }) => id))
      await between(page)
      cursor = nextCursor ?? undefined
    }
    return seen
  }

  test('have each one that stays exactly once while others come and go', async () => {
    const arns = Array.from({ length: 12 }, (_, i) => topicName(`many-${i}`))
    const stay = new Set<string>()
    for (const [t, arn] of arns.entries()) {
      await topics.put(arn, {})
      for (let i = 0; i <= t; i++) {
        stay.add((await subscriptions.create(newSubscription(arn, i))).subscription.id)
      }
    }
    for (const limit of [1, 4, 100]) {
      const seen = await walk({ limit }, async (page) => {
        const arn = arns[page % arns.length] ?? ARN
        const { subscription } = await subscriptions.create(newSubscription(arn, 1_000 + page))
        if (page % 2) await subscriptions.delete(subscription.id)
      })
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((id) => stay.has(id))).toHaveLength(stay.size)
      const one = await walk({ limit, topicArn: arns[11] }, async () => {})
      expect(one.filter((id) => stay.has(id))).toHaveLength(12)
    }
  })

  test('filter by topic, endpoint and status, and hide those that left', async () => {
    const other = topicName('other')
    await topics.put(other, {})
    const made: SubscriptionRecord[] = []
    for (let i = 0; i < 5; i++) made.push(await create(i))
    const elsewhere = (await subscriptions.create(newSubscription(other, 1))).subscription
    const paused = await subscriptions.update(made[1]?.id ?? '', () => ({ status: 'paused' }))
    await subscriptions.update(made[2]?.id ?? '', () => ({ unsubscribed: true, tokenExpiresAt: 9e12 }))
    const { endpoint } = paused
    const found = async (request: object) => {
      const { items } = await subscriptions.list({ limit: 100, ...request })
      return items.map(({ id }) => id).sort()
    }
    expect(await found({ endpoint })).toEqual([paused.id, elsewhere.id].sort())
    expect(await found({ endpoint, topicArn: ARN })).toEqual([paused.id])
    expect(await found({ endpoint, topicArn: ARN, status: 'active' })).toEqual([])
    expect(await found({ status: 'paused' })).toEqual([paused.id])
    expect(await found({ topicArn: ARN })).toHaveLength(4)
    expect(await found({ endpoint: made[2]?.endpoint, topicArn: ARN })).toEqual([])
    expect(await found({ topicArn: topicName('none') })).toEqual([])
  })

  test('have one account and region, and leave out the others', async () => {
    const made = await create(0)
    const other = ARN.replace('000000000000', '111111111111')
    await topics.put(other, {})
    const theirs = (await subscriptions.create(newSubscription(other, 0))).subscription
    const first = await subscriptions.list({ limit: 1 })
    expect(first.items).toEqual([made])
    const cursor = first.nextCursor ?? ''
    const list = (topicPrefix: string) => subscriptions.list({ topicPrefix, limit: 100 })
    expect((await list('arn:aws:sns:us-east-1:111111111111:')).items).toEqual([theirs])
    expect((await list('arn:aws:sns:us-east-1:000000000000:')).items).toEqual([made])
    const mixed = subscriptions.list({ topicPrefix: 'arn:aws:sns:us-east-1:1', limit: 100, cursor })
    await expect(mixed).rejects.toMatchObject({ code: 'validation_failed' })
  })

  test('find the one that matches wherever in its slice it is', async () => {
    for (const { id } of [await create(0), await create(1), await create(2)]) {
      await subscriptions.update(id, () => ({ status: 'paused' }))
      const page = await subscriptions.list({ status: 'paused', limit: 1 })
      expect(page.items.map((item) => item.id)).toEqual([id])
      await subscriptions.update(id, () => ({ status: 'active' }))
    }
  })

  test('refuse a cursor of another topic', async () => {
    for (let i = 0; i < 3; i++) await create(i)
    const { nextCursor } = await subscriptions.list({ topicArn: ARN, limit: 1 })
    const list = subscriptions.list({ topicArn: topicName('b'), limit: 1, cursor: nextCursor ?? '' })
    await expect(list).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(subscriptions.list({ limit: 1, cursor: '!' })).rejects.toMatchObject({
      code: 'validation_failed',
    })
  })

  test('report a record that cannot be read and go on without it', async () => {
    const made = [await create(0), await create(1)]
    const bad = made[0]?.id ?? ''
    const place = placeOfSubscription(bad)
    const key = subscriptionsKey(shardBase(place?.shard ?? 0), place?.sliceId ?? '')
    await redis.hset(key, bad, '{"e":1}')
    await expect(subscriptions.get(bad)).rejects.toThrow(`unreadable JSON in ${key} ${bad}`)
    await expect(subscriptions.list({ limit: 9 })).rejects.toThrow(`unreadable JSON in ${key} ${bad}`)
    const reported: string[] = []
    const lenient = new Subscriptions(redis, { onUnreadable: (error) => reported.push(error.message) })
    expect((await lenient.list({ limit: 9 })).items).toEqual([made[1]])
    expect(reported).toEqual([`unreadable JSON in ${key} ${bad}`])
  })
})
