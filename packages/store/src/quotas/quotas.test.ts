import { beforeFirst, crashing, skewKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import type { Redis } from 'ioredis'
import { beforeEach, expect, test } from 'vitest'
import { Quotas, Subscriptions, shardBase, shardOf, Topics } from '../index.ts'
import { creatingKey, QUOTAS_BASE } from '../keys/keys.ts'
import { newSubscription, topicName } from '../subscriptions/subscriptions.fixture.ts'

const ACCOUNT = '000000000000'
const { redis } = await useRedis()
const quotas = new Quotas(redis)
beforeEach(() => redis.flushall())

const storesOn = (connection: Redis) => {
  const options = { quotas: new Quotas(connection) }
  return {
    topics: new Topics(connection, options),
    subscriptions: new Subscriptions(connection, { ...options, sliceSubscriptionsMax: 3 }),
  }
}
const { topics, subscriptions } = storesOn(redis)
const create = (name: string) => topics.create(topicName(name), {})
const exceeded = expect.objectContaining({ code: 'quota_exceeded' })

function outcomes(settled: PromiseSettledResult<unknown>[]) {
  const refused = settled.filter((one) => one.status === 'rejected')
  for (const { reason } of refused) expect(reason).toEqual(exceeded)
  return { made: settled.length - refused.length, refused: refused.length }
}

test('the narrowest quota decides how many of many topics at once are made', async () => {
  await quotas.put(ACCOUNT, 'acme-', { topics: 12 })
  await quotas.put(ACCOUNT, 'acme-eu-', { topics: 5 })
  const narrow = Array.from({ length: 15 }, (_, i) => create(`acme-eu-${i}`))
  expect(outcomes(await Promise.allSettled(narrow))).toEqual({ made: 5, refused: 10 })
  const wide = Array.from({ length: 20 }, (_, i) => create(`acme-us-${i}`))
  const others = Array.from({ length: 20 }, (_, i) => create(`other-${i}`))
  const settled = await Promise.allSettled([...wide, ...others])
  expect(outcomes(settled)).toEqual({ made: 27, refused: 13 })
  expect(await quotas.used(ACCOUNT, ['acme-', 'acme-eu-', 'other-'])).toMatchObject([
    { topics: 12 },
    { topics: 5 },
    { topics: 20 },
  ])
})

test('a quota decides how many of many subscriptions at once are made', async () => {
  await quotas.put(ACCOUNT, 'acme-', { subscriptions: 10 })
  for (const name of ['acme-a', 'acme-b']) await create(name)
  const all = Array.from({ length: 24 }, (_, i) =>
    subscriptions.create(newSubscription(topicName(i % 2 ? 'acme-a' : 'acme-b'), i)),
  )
  expect(outcomes(await Promise.allSettled(all))).toEqual({ made: 10, refused: 14 })
  expect(await quotas.used(ACCOUNT, ['acme-'])).toEqual([{ topics: 2, subscriptions: 10 }])
})

test('a quota does not concern what exists, and a deletion gives back', async () => {
  await quotas.put(ACCOUNT, 'acme-', { topics: 1, subscriptions: 1 })
  const arn = topicName('acme-a')
  await topics.put(arn, {})
  expect(await topics.put(arn, { displayName: 'same' })).toMatchObject({ created: false })
  expect(await topics.create(arn, {})).toMatchObject({ created: false })
  const first = await subscriptions.create(newSubscription(arn, 1))
  expect(await subscriptions.create(newSubscription(arn, 1))).toEqual({ ...first, created: false })
  await expect(subscriptions.create(newSubscription(arn, 2))).rejects.toEqual(exceeded)
  await expect(create('acme-b')).rejects.toThrow('acme- have as many topics as their quota, 1')
  await subscriptions.delete(first.subscription.id)
  expect(await subscriptions.create(newSubscription(arn, 2))).toMatchObject({ created: true })
  await topics.delete(arn)
  await create('acme-b')
  expect(await quotas.used(ACCOUNT, ['acme-'])).toEqual([{ topics: 1, subscriptions: 0 }])
})

test('topics of every region of the account count, and those of other accounts do not', async () => {
  await quotas.put(ACCOUNT, 'acme-', { topics: 2 })
  const inRegion = (region: string, account = ACCOUNT) => `arn:aws:sns:${region}:${account}:acme-a`
  await topics.create(inRegion('eu-west-1'), {})
  await topics.create(inRegion('us-east-1', '222222222222'), {})
  await topics.create(inRegion('us-east-1'), {})
  await expect(topics.create(inRegion('us-west-2'), {})).rejects.toEqual(exceeded)
  await topics.create(inRegion('us-west-2', '222222222222'), {})
})

test('the place of a killed process is free again when its note ends', async () => {
  await quotas.put(ACCOUNT, 'acme-', { topics: 1 })
  const killed = storesOn(crashing(redis, (script) => script === 'put-topic-1'))
  await expect(killed.topics.create(topicName('acme-a'), {})).rejects.toThrow('crashed')
  expect(await redis.zcard(creatingKey('topics', `${ACCOUNT} acme-`))).toBe(1)
  await expect(create('acme-b')).rejects.toEqual(exceeded)
  await redis.set(skewKey(QUOTAS_BASE), 10_001)
  await create('acme-b')
  expect(await redis.keys(`${QUOTAS_BASE}creating:*`)).toEqual([])
})

test.each(['topics', 'subscriptions'] as const)(
  'a frozen process makes none of the late %s',
  async (member) => {
    await quotas.put(ACCOUNT, 'acme-', { [member]: 1 })
    if (member === 'subscriptions') await create('acme-a')
    const make = (stores: ReturnType<typeof storesOn>, name: string) =>
      member === 'topics'
        ? stores.topics.create(topicName(`acme-${name}`), {})
        : stores.subscriptions.create(newSubscription(topicName('acme-a'), `https://example.com/${name}`))
    const script = member === 'topics' ? 'put-topic-1' : 'create-subscription-1'
    const late = topicName(member === 'topics' ? 'acme-late' : 'acme-a')
    const frozen = storesOn(
      beforeFirst(redis, script, async () => {
        await redis.set(skewKey(shardBase(shardOf(late))), 4_001)
        await redis.set(skewKey(QUOTAS_BASE), 10_001)
        await make({ topics, subscriptions }, 'quick')
      }),
    )
    await expect(make(frozen, 'late')).rejects.toEqual(exceeded)
    expect(await quotas.used(ACCOUNT, ['acme-'])).toMatchObject([{ [member]: 1 }])
  },
)

test('bounds that are left out stay, and a quota without any is refused', async () => {
  expect(await quotas.put(ACCOUNT, 'acme-', { topics: 3 })).toMatchObject({ created: true })
  const all = ['subscriptions', 'storedBytes'] as const
  await Promise.all(all.map((member) => quotas.put(ACCOUNT, 'acme-', { [member]: 7 })))
  const bounds = { topics: 3, subscriptions: 7, storedBytes: 7 }
  expect(await quotas.get(ACCOUNT, 'acme-')).toEqual({ account: ACCOUNT, prefix: 'acme-', ...bounds })
  const none = { topics: null, subscriptions: null, storedBytes: null }
  await expect(quotas.put(ACCOUNT, 'acme-', none)).rejects.toMatchObject({ code: 'validation_failed' })
  expect(await quotas.delete(ACCOUNT, 'acme-')).toBe(true)
  expect(await quotas.all()).toEqual([])
})
