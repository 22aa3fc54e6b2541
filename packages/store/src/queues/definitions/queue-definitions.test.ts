import { queueArn } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { queueKey } from '../../keys/keys.ts'
import { newArn, useQueues } from '../queues.fixture.ts'

const fixture = await useQueues()

test('a single one of many simultaneous callers creates a queue, and all get that one', async () => {
  const arn = newArn()
  const delays = Array.from({ length: 8 }, (_, i) => i + 1)
  const answers = await Promise.all(
    delays.map((delaySeconds) => fixture.queues.create(arn, { delaySeconds })),
  )
  expect(answers.filter(({ created }) => created)).toHaveLength(1)
  const queue = await fixture.queues.get(arn)
  expect(answers.map((answer) => answer.queue)).toEqual(answers.map(() => queue))
})

test('changes made of the queue as it is are all kept, however many are made at once', async () => {
  const { queues } = fixture
  const arn = newArn()
  await expect(queues.update(arn, () => ({}))).rejects.toMatchObject({ code: 'not_found' })
  await queues.create(arn, {})
  const names = Array.from({ length: 8 }, (_, i) => `tag-${i}`)
  await Promise.all(
    names.map((name) => queues.update(arn, ({ tags = {} }) => ({ tags: { ...tags, [name]: 'x' } }))),
  )
  expect(Object.keys((await queues.get(arn))?.tags ?? {}).sort()).toEqual(names)
})

test('a queue with an unreadable record is not changed, and can be deleted and created again', async () => {
  const { queues, redis } = fixture
  const arn = newArn()
  await queues.create(arn, { delaySeconds: 7 })
  const record = String(await redis.hget(queueKey(arn), 'record'))
  await redis.hset(queueKey(arn), 'record', record.slice(0, -9))
  const refusal = { code: 'conflict', message: expect.stringContaining('delete the queue') }
  await expect(queues.put(arn, { delaySeconds: 8 })).rejects.toMatchObject(refusal)
  await expect(queues.patch(arn, { delaySeconds: 8 })).rejects.toMatchObject(refusal)
  expect(await redis.hget(queueKey(arn), 'record')).toBe(record.slice(0, -9))
  await queues.delete(arn)
  expect(await queues.put(arn, {})).toMatchObject({ created: true })
})

test('a list may be of one account and region', async () => {
  const { queues } = fixture
  const owner = { partition: 'aws', region: 'eu-west-3', account: '111122223333' }
  const arns = ['list-a', 'list-b'].map((name) => queueArn(name, owner))
  await Promise.all([...arns, queueArn('list-c')].map((arn) => queues.create(arn, {})))
  const listed = async (request: object) =>
    (await queues.list({ limit: 10, ...request })).items.map(({ arn }) => arn)
  expect(await listed({ owner })).toEqual(arns)
  expect(await listed({ owner, prefix: 'list-b' })).toEqual([arns[1]])
  expect(await listed({ prefix: 'list-' })).toEqual([queueArn('list-c')])
})
