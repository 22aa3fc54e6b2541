/** Changes that span two shards. Processes die, or are stopped for a while, between two steps. */
import type { SubscriptionRecord } from '@fantail/contracts'
import { skewKey, tombstoneKey } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, describe, expect, test } from 'vitest'
import { placeOfSubscription, SHARD_COUNT, Snapshots, Subscriptions, shardBase, Topics } from '../index.ts'
import { cutShort, holdBefore, indexFaults, newSubscription, topicName } from './subscriptions.fixture.ts'

const ARN = topicName('crashes')
const SLICE = { sliceSubscriptionsMax: 3 }

const { server, redis } = await useRedis()
const topics = new Topics(redis)
const subscriptions = new Subscriptions(redis, SLICE)
/** The first slice is full, so every new subscription spans two shards. */
beforeEach(async () => {
  await redis.flushall()
  await topics.put(ARN, {})
  for (let i = 0; i < 3; i++) await create(i)
})

async function create(endpoint: number, set = {}): Promise<SubscriptionRecord> {
  return (await subscriptions.create(newSubscription(ARN, endpoint, set))).subscription
}

const handshake = (token: string) => ({ confirmation: 'handshake' as const, token, tokenExpiresAt: 9e12 })
const total = async () => (await topics.getWithCounts(ARN))?.subscriptions.active

describe('a process that dies', () => {
  const cases: {
    script: string
    act: (client: Subscriptions, last: SubscriptionRecord) => Promise<unknown>
  }[] = [
    { script: 'place-subscription-1', act: (client) => client.create(newSubscription(ARN, 9)) },
    { script: 'finish-create-1', act: (client) => client.create(newSubscription(ARN, 9, handshake('n'))) },
    { script: 'remove-subscription-1', act: (client, last) => client.delete(last.id) },
    { script: 'finish-delete-1', act: (client, last) => client.delete(last.id) },
  ]

  test.each(cases)('before $script leaves what the sweep puts in order', async ({ script, act }) => {
    await create(3)
    const last = await create(4, handshake('last'))
    await cutShort(server.url, script, (broken) => act(new Subscriptions(broken, SLICE), last))
    expect(await indexFaults(redis)).not.toEqual([])
    expect(await topics.resumeDeletions()).toBe(0)
    expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    expect(await indexFaults(redis)).toEqual([])
    await create(9)
    await create(4)
    expect(await indexFaults(redis)).toEqual([])
  })

  test.each(cases)('before $script does not keep others from the endpoint', async ({ script, act }) => {
    await create(3)
    const last = await create(4)
    await cutShort(server.url, script, (broken) => act(new Subscriptions(broken, SLICE), last))
    const endpoints = [4, 9]
    await Promise.all([...endpoints, ...endpoints].map((endpoint) => create(endpoint)))
    await topics.resumeDeletions({ ageMs: 0 })
    expect(await indexFaults(redis)).toEqual([])
    const { items } = await subscriptions.list({ topicArn: ARN, limit: 10 })
    expect(items.map((item) => Number(item.endpoint.split('/').at(-1))).sort()).toEqual([0, 1, 2, 3, 4, 9])
  })

  test('before it ended a creation that another has undone gives no place back twice', async () => {
    await cutShort(server.url, 'finish-create-1', (broken) =>
      new Subscriptions(broken, SLICE).create(newSubscription(ARN, 9)),
    )
    await create(8)
    const [made] = (await subscriptions.list({ topicArn: ARN, endpoint: endpointOf(9), limit: 1 })).items
    expect(await subscriptions.delete(made?.id ?? '')).toBe(true)
    expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('in a deletion takes nothing from the topic that was made again since', async () => {
    const made = await create(9)
    await cutShort(server.url, 'finish-delete-1', (broken) =>
      new Subscriptions(broken, SLICE).delete(made.id),
    )
    await topics.delete(ARN)
    await topics.put(ARN, {})
    for (let i = 0; i < 5; i++) await create(i)
    expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    expect(await indexFaults(redis)).toEqual([])
  })

  const endpointOf = (i: number) => newSubscription(ARN, i).endpoint
})

describe('a process that stood still', () => {
  test('does not store a subscription whose place was given up', async () => {
    await create(3)
    using frozen = holdBefore(redis, 'place-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).create(newSubscription(ARN, 8))
    await frozen.reached
    expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    expect(await indexFaults(redis)).toEqual([])
    frozen.release()
    expect((await late).created).toBe(true)
    expect(await indexFaults(redis)).toEqual([])
    expect(await total()).toBe(5)
  })

  test('does not store a subscription after its reservation may have ended', async () => {
    const ids: string[] = []
    using frozen = holdBefore(redis, 'place-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).create(newSubscription(ARN, 8))
    await frozen.reached
    await topics.resumeDeletions({ ageMs: 0 })
    for (const key of await redis.keys(tombstoneKey('*', '*'))) ids.push(key.split(':tombstone:')[1] ?? '')
    await redis.del(await redis.keys(tombstoneKey('*', '*')))
    for (let i = 0; i < SHARD_COUNT; i++) await redis.set(skewKey(shardBase(i)), 31_000)
    frozen.release()
    expect(ids).not.toContain((await late).subscription.id)
    expect(await subscriptions.get(ids[0] ?? '')).toBeNull()
    expect(await indexFaults(redis)).toEqual([])
  })

  test('does not bring back one that another has stored for it and a third has deleted', async () => {
    await cutShort(server.url, 'place-subscription-1', (broken) =>
      new Subscriptions(broken, SLICE).create(newSubscription(ARN, 8)),
    )
    using frozen = holdBefore(redis, 'place-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).create(newSubscription(ARN, 8))
    await frozen.reached
    const made = await create(8)
    expect(await subscriptions.delete(made.id)).toBe(true)
    frozen.release()
    expect((await late).created).toBe(true)
    expect((await late).subscription.id).not.toBe(made.id)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('stores nothing for a topic that was deleted', async () => {
    using frozen = holdBefore(redis, 'place-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).create(newSubscription(ARN, 8))
    await frozen.reached
    await topics.delete(ARN)
    frozen.release()
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    await topics.resumeDeletions({ ageMs: 0 })
    expect(await indexFaults(redis)).toEqual([])
  })

  test('does not delete again what another has deleted', async () => {
    const made = await create(8)
    await create(9)
    using frozen = holdBefore(redis, 'delete-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).delete(made.id)
    await frozen.reached
    expect(await subscriptions.delete(made.id)).toBe(true)
    const again = await create(8)
    frozen.release()
    expect(await late).toBe(false)
    expect(await subscriptions.get(again.id)).toEqual(again)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('leaves no entry of a token that a deleted subscription did not get any more', async () => {
    const made = await create(8)
    using frozen = holdBefore(redis, 'update-subscription-1')
    const late = new Subscriptions(frozen.connection, SLICE).update(made.id, () => ({ token: 'late' }))
    await frozen.reached
    expect(await subscriptions.delete(made.id)).toBe(true)
    frozen.release()
    await expect(late).rejects.toMatchObject({ code: 'not_found' })
    expect(await indexFaults(redis)).toEqual([])
  })

  test("does not put back a topic's older settings, nor hide that newer ones are on their way", async () => {
    await create(8)
    using configuring = holdBefore(redis, 'configure-slice-1')
    using finishing = holdBefore(redis, 'finish-topic-1')
    const first = new Topics(configuring.connection).patch(ARN, { retentionSeconds: 61 })
    await configuring.reached
    await topics.patch(ARN, { retentionSeconds: 62 })
    configuring.release()
    await first
    expect(await indexFaults(redis)).toEqual([])
    const third = new Topics(finishing.connection).patch(ARN, { retentionSeconds: 63 })
    await finishing.reached
    await cutShort(server.url, 'configure-slice-1', (broken) =>
      new Topics(broken).patch(ARN, { retentionSeconds: 64 }),
    )
    finishing.release()
    await third
    expect(await topics.resumeDeletions({ ageMs: 0 })).toBe(1)
    expect(await indexFaults(redis)).toEqual([])
  })

  test('does not make a slice of a topic that was deleted', async () => {
    const made = await create(8)
    const place = placeOfSubscription(made.id)
    if (!place) throw new Error('it was made')
    using frozen = holdBefore(redis, 'configure-slice-1')
    const late = new Topics(frozen.connection).patch(ARN, { retentionSeconds: 61 })
    await frozen.reached
    await topics.delete(ARN)
    frozen.release()
    await late
    expect(await new Snapshots(redis).slice(place)).toBeNull()
    expect(await indexFaults(redis)).toEqual([])
  })
})
