import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, describe, expect, test } from 'vitest'
import { placeOfSubscription, Subscriptions, Topics } from '../index.ts'
import { unfinishedKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import {
  cutShort,
  holdBefore,
  indexFaults,
  newSubscription,
  topicName,
} from '../subscriptions/subscriptions.fixture.ts'
import { finishUnfinished } from '../topics/topics-repair.ts'

const ARN = topicName('events')
const { server, redis } = await useRedis()
/** With one subscription per slice, the second one is in another shard than its topic. */
const SLICE = { sliceSubscriptionsMax: 1 }
const subscriptions = new Subscriptions(redis, SLICE)

beforeEach(async () => {
  await redis.flushall()
  await new Topics(redis).put(ARN, {})
})

const create = async (endpoint: string, set = {}) =>
  (await subscriptions.create(newSubscription(ARN, endpoint, set))).subscription

const OLD = 'https://example.com/old'
const NEW = 'https://example.com/new'

describe.each(['in the shard of its topic', 'in another shard'])('a subscription %s', (where) => {
  const createMovable = async (set = {}) => {
    if (where === 'in another shard') await create('https://example.com/first')
    const made = await create(OLD, set)
    const place = placeOfSubscription(made.id)
    expect(place?.shard === place?.homeShard).toBe(where !== 'in another shard')
    return made
  }

  test('has the new endpoint and gives the old one free', async () => {
    const made = await createMovable({ maxInFlight: 7 })
    const moved = await subscriptions.move(made.id, () => ({ endpoint: NEW }))
    expect(moved).toEqual({ ...made, endpoint: NEW })
    expect(await subscriptions.get(made.id)).toEqual(moved)
    expect(await indexFaults(redis)).toEqual([])
    expect((await create(OLD)).id).not.toBe(made.id)
    expect((await create(NEW)).id).toBe(made.id)
  })

  test('does not take the endpoint of another one, but that of one that left by its link', async () => {
    const made = await createMovable()
    const other = await create(NEW)
    const move = () => subscriptions.move(made.id, () => ({ endpoint: NEW }))
    await expect(move()).rejects.toMatchObject({ code: 'subscription_exists' })
    expect([(await subscriptions.get(made.id))?.endpoint, await indexFaults(redis)]).toEqual([OLD, []])
    await subscriptions.update(other.id, () => ({ unsubscribed: true, token: 't', tokenExpiresAt: 1 }))
    expect((await move()).endpoint).toBe(NEW)
    expect([await subscriptions.get(other.id), await indexFaults(redis)]).toEqual([null, []])
  })

  test('keeps its endpoint if only its token and settings change', async () => {
    const { id } = await createMovable({ token: 'before', tokenExpiresAt: 1 })
    await subscriptions.move(id, () => ({ endpoint: OLD, token: 'after' }))
    expect([(await subscriptions.get(id))?.token, await indexFaults(redis)]).toEqual(['after', []])
    expect((await create(OLD)).id).toBe(id)
    expect(await subscriptions.delete(id)).toBe(true)
    expect(await indexFaults(redis)).toEqual([])
  })

  const steps = where === 'in another shard' ? (['delete', 'remove'] as const) : (['delete'] as const)

  test.each(steps)('gives the new endpoint free if it moves just before the step %s', async (step) => {
    const { id } = await createMovable()
    using stop = holdBefore(redis, `${step}-subscription-1`)
    const deletion = new Subscriptions(stop.connection, SLICE).delete(id)
    await stop.reached
    await Promise.allSettled([subscriptions.move(id, () => ({ endpoint: NEW }))])
    stop.release()
    expect(await deletion).toBe(true)
    expect([await subscriptions.get(id), await indexFaults(redis)]).toEqual([null, []])
    expect((await create(NEW)).id).not.toBe(id)
  })

  test('has one endpoint whatever moves it at the same time', async () => {
    const { id } = await createMovable()
    const targets = [1, 2, 3].map((n) => `https://example.com/${n}`)
    await Promise.all(targets.map((endpoint) => subscriptions.move(id, () => ({ endpoint }))))
    expect(targets).toContain((await subscriptions.get(id))?.endpoint)
    expect(await indexFaults(redis)).toEqual([])
  })
})

test.each(['move-subscription-1', 'finish-move-1'])(
  'a move that a crash cuts short before %s is finished by the sweep',
  async (step) => {
    await create('https://example.com/first')
    const { id } = await create(OLD)

    await cutShort(server.url, step, (broken) =>
      new Subscriptions(broken, SLICE).move(id, () => ({ endpoint: NEW })),
    )
    expect(await finishUnfinished(redis, 0)).toBe(1)
    expect((await subscriptions.get(id))?.endpoint).toBe(step === 'finish-move-1' ? NEW : OLD)
    expect(await indexFaults(redis)).toEqual([])
  },
)

test('a cut-short move to the same endpoint is finished by the sweep', async () => {
  await create('https://example.com/first')
  const { id } = await create(OLD)
  await cutShort(server.url, 'finish-move-1', (broken) =>
    new Subscriptions(broken, SLICE).move(id, () => ({ rawMessageDelivery: true })),
  )
  expect(await finishUnfinished(redis, 0)).toBe(1)
  expect(await indexFaults(redis)).toEqual([])
})

test('a note that the sweep cannot read holds up no other', async () => {
  await create('https://example.com/first')
  const { id } = await create(OLD)
  const unfinished = unfinishedKey(shardBase(shardOf(ARN)))
  await redis.zadd(unfinished, '1', `ofTomorrow|${ARN}`)
  await cutShort(server.url, 'finish-move-1', (broken) =>
    new Subscriptions(broken, SLICE).move(id, () => ({ endpoint: NEW })),
  )
  await expect(finishUnfinished(redis, 0)).rejects.toThrow('unknown note ofTomorrow')
  expect(await redis.zrange(unfinished, '0', '-1')).toEqual([`ofTomorrow|${ARN}`])
})
