import { EVENT_TYPES_MAX, type EventTypeRecord, topicArn } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { EventTypes, shardBase, shardOf, Topics } from '../index.ts'
import { eventTypesKey, topicKey } from '../keys/keys.ts'

const { redis } = await useRedis()
const unreadable: string[] = []
const types = new EventTypes(redis, { onUnreadable: (_, key) => unreadable.push(key) })
const topics = new Topics(redis)
const ARN = topicArn('orders')
beforeEach(() => redis.flushall())

const record = (name: string, more: Partial<EventTypeRecord> = {}): EventTypeRecord => ({
  name,
  description: null,
  deprecated: false,
  versions: [],
  examples: [],
  createdAt: 1,
  modifiedAt: 1,
  ...more,
})
const put = (name: string, more?: Partial<EventTypeRecord>) => types.put(ARN, name, () => record(name, more))
const revision = async () => (await topics.getWithCounts(ARN))?.eventTypes

test('a catalogue keeps its types by name, and each change gives it another revision', async () => {
  await topics.put(ARN, {})
  const revisions = [await revision()]
  expect(await put('order.paid')).toMatchObject({ created: true })
  revisions.push(await revision())
  await put('order.created', { description: 'New.' })
  expect(await put('order.created', { description: 'New.' })).toMatchObject({ created: false })
  revisions.push(await revision())
  expect((await types.list(ARN)).map(({ name }) => name)).toEqual(['order.created', 'order.paid'])
  expect(await types.get(ARN, 'order.created')).toEqual(record('order.created', { description: 'New.' }))
  await types.delete(ARN, 'order.paid')
  revisions.push(await revision())
  await types.delete(ARN, 'order.paid')
  expect(await revision()).toBe(revisions[3])
  expect(await types.get(ARN, 'order.paid')).toBeNull()
  expect(revisions[0]).toBe('')
  expect(new Set(revisions).size).toBe(4)
})

test('a deleted topic takes its catalogue along, and a new one of its name has none', async () => {
  const { topic } = await topics.put(ARN, {})
  await put('order.paid')
  await topics.delete(ARN)
  expect(await redis.exists(eventTypesKey(shardBase(shardOf(ARN)), topic.uid))).toBe(0)
  await expect(types.list(ARN)).rejects.toMatchObject({ code: 'not_found' })
  await expect(put('order.paid')).rejects.toMatchObject({ code: 'not_found' })
  await topics.put(ARN, {})
  expect(await types.list(ARN)).toEqual([])
})

test('many writers at the same time lose no change', async () => {
  await topics.put(ARN, {})
  const add = (n: number) =>
    types.put(ARN, 'shared', (before) =>
      record('shared', { examples: [...(before?.examples ?? []), String(n)] }),
    )
  await Promise.all([1, 2, 3, 4, 5].map(add))
  expect((await types.get(ARN, 'shared'))?.examples.toSorted()).toEqual(['1', '2', '3', '4', '5'])
})

test('a topic has at most 200 types, and 2 MiB of them', async () => {
  const { topic } = await topics.put(ARN, {})
  const key = eventTypesKey(shardBase(shardOf(ARN)), topic.uid)
  for (let n = 0; n < EVENT_TYPES_MAX; n++) await redis.hset(key, `t${n}`, 'x')
  await expect(put('one.more')).rejects.toMatchObject({
    code: 'conflict',
    message: /at most 200 event types/,
  })
  await redis.del(key)
  await redis.hset(key, 'large', 'x'.repeat(2_097_100))
  await expect(put('small')).rejects.toMatchObject({ code: 'conflict', message: /2097152 bytes together/ })
})

test('a record that was changed is not used, and hides no other', async () => {
  const { topic } = await topics.put(ARN, {})
  await put('good')
  await put('bad')
  const key = eventTypesKey(shardBase(shardOf(ARN)), topic.uid)
  await redis.hset(key, 'bad', String(await redis.hget(key, 'bad')).replace('false', 'true '))
  expect((await types.list(ARN)).map(({ name }) => name)).toEqual(['good'])
  expect(unreadable).toEqual([`${key} bad`])
  await expect(types.get(ARN, 'bad')).rejects.toThrow(`unreadable JSON in ${key} bad`)
  expect(await redis.hget(topicKey(ARN), 'types')).not.toBeNull()
})
