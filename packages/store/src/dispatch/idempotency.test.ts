import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeAll, expect, test } from 'vitest'
import {
  connect,
  dispatchJobKey,
  Idempotency,
  idempotencyKey,
  Topics,
  topicKey,
  underTopic,
} from '../index.ts'

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'
const OTHER = `${TOPIC}-2`
const ADDED_AT = 1_760_000_000_000
/** The run of job 7. */
const RUN = `dispatch-0:7:${ADDED_AT.toString(36)}`

const { redis } = await useRedis({ connect })
beforeAll(async () => {
  for (const arn of [TOPIC, OTHER]) await new Topics(redis).put(arn, {})
})

test('the first claim of a key wins and holds for a day', async () => {
  const keys = new Idempotency(redis)
  const values = Array.from({ length: 8 }, (_, i) => ({ h: 'same', ids: [`id-${i}`] }))
  const winners = await Promise.all(
    values.map((value) => keys.claimForPublish(TOPIC, 'k', JSON.stringify(value))),
  )
  expect(new Set(winners.map((winner) => winner.ids[0])).size).toBe(1)
  const topicUid = (await redis.hget(topicKey(TOPIC), 'uid')) ?? ''
  expect(await keys.find(TOPIC, 'k')).toEqual({ topicUid, publish: winners[0] })
  const seconds = await redis.ttl(idempotencyKey(TOPIC, topicUid, 'k'))
  expect(seconds).toBeGreaterThan(86_300)
  expect(seconds).toBeLessThanOrEqual(86_400)
})

test('a key of one topic means nothing to another', async () => {
  const keys = new Idempotency(redis)
  await keys.claimForPublish(TOPIC, 'mine', JSON.stringify({ h: 'a', ids: ['1'] }))
  expect(await keys.find(OTHER, 'mine')).toMatchObject({ publish: null })
})

test('a topic that is made again has no key of the earlier one, and one that is gone has none at all', async () => {
  const keys = new Idempotency(redis)
  const value = (id: string) => JSON.stringify({ h: 'a', ids: [id] })
  await keys.claimForPublish(TOPIC, 'again', value('1'))
  await new Topics(redis).delete(TOPIC)
  expect(await keys.find(TOPIC, 'again')).toBeNull()
  expect(await keys.claimForPublish(TOPIC, 'again', value('2'))).toMatchObject({ ids: ['2'] })
  await new Topics(redis).put(TOPIC, {})
  expect(await keys.find(TOPIC, 'again')).toMatchObject({ publish: null })
})

test('a claim of dispatch touches no other key, whatever its ending', async () => {
  const keys = new Idempotency(redis)
  const topicUid = (await redis.hget(topicKey(OTHER), 'uid')) ?? ''
  const value = (id: string) => JSON.stringify({ h: 'a', ids: [id] })
  await keys.claimForPublish(OTHER, 'it-never', value('1'))
  await redis.hset(dispatchJobKey(0, '7'), { timestamp: ADDED_AT })
  const claiming = { jobName: RUN, mark: { holds: () => true } }
  expect(await keys.claimForDispatch(idempotencyKey(OTHER, topicUid, 'it-'), value('2'), claiming)).toBe(true)
  expect(await keys.find(OTHER, 'it-never')).toMatchObject({ publish: { ids: ['1'] } })
})

test('dispatch claims nothing for a job that Redis has lost', async () => {
  const keys = new Idempotency(redis)
  const topicUid = (await redis.hget(topicKey(OTHER), 'uid')) ?? ''
  const name = idempotencyKey(OTHER, topicUid, 'lost')
  const value = JSON.stringify({ h: 'a', ids: ['1'] })
  const claim = (holds = true) =>
    keys.claimForDispatch(name, value, { jobName: RUN, mark: { holds: () => holds } })
  await redis.del(dispatchJobKey(0, '7'))
  expect(await claim()).toBe('jobGone')
  await redis.hset(dispatchJobKey(0, '7'), { timestamp: ADDED_AT + 1 })
  expect(await claim()).toBe('jobGone')
  await redis.hset(dispatchJobKey(0, '7'), { timestamp: ADDED_AT })
  await expect(claim(false)).rejects.toThrow('closed meanwhile')
  expect(await keys.find(OTHER, 'lost')).toMatchObject({ publish: null })
  expect(await claim()).toBe(true)
  expect(await keys.find(OTHER, 'lost')).toMatchObject({ publish: { ids: ['1'] } })
})

test('dispatch claims the key of the topic that the message goes to', () => {
  const name = idempotencyKey(TOPIC, 'uid-1', 'a:idem:uid-1:b')
  expect(underTopic(name, 'uid-1', 'uid-2')).toBe(idempotencyKey(TOPIC, 'uid-2', 'a:idem:uid-1:b'))
  expect(underTopic('ft:{x}:idem:by-arn:k', 'uid-1', 'uid-2')).toBe('ft:{x}:idem:by-arn:k')
})
