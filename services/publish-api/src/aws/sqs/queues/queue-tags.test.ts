import {
  CreateQueueCommand,
  ListQueueTagsCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCOUNT, type SqsApi, startSqsApi } from '../sqs.fixture.ts'

let sqs: SqsApi
const QueueUrl = 'tagged'
beforeAll(async () => {
  sqs = await startSqsApi()
  await sqs.client.send(new CreateQueueCommand({ QueueName: QueueUrl, tags: { made: 'yes' } }))
})
afterAll(() => sqs.stop())

const tag = (Tags: Record<string, string>) => sqs.client.send(new TagQueueCommand({ QueueUrl, Tags }))
const untag = (...TagKeys: string[]) => sqs.client.send(new UntagQueueCommand({ QueueUrl, TagKeys }))
const tags = async () => (await sqs.client.send(new ListQueueTagsCommand({ QueueUrl }))).Tags

test('tags are added, replaced, listed and removed', async () => {
  await tag({ team: 'blue', 'cost centre': '4/2' })
  await tag({ team: 'red' })
  expect(await tags()).toEqual({ made: 'yes', team: 'red', 'cost centre': '4/2' })
  await untag('team', 'none')
  expect(await tags()).toEqual({ made: 'yes', 'cost centre': '4/2' })
  await untag('made', 'cost centre')
  expect(await tags()).toBeUndefined()
})

test('an invalid set of tags is refused and changes nothing', async () => {
  await tag({ kept: 'x' })
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`tag-${i}`, 'x']))
  await expect(tag(many)).rejects.toMatchObject({
    name: 'InvalidParameterValue',
    message: 'Too many tags added for queue tagged.',
  })
  for (const [key, value] of [
    ['', 'x'],
    ['k'.repeat(129), 'x'],
    ['k', 'v'.repeat(257)],
    ['aws:mine', 'x'],
    ['k!', 'x'],
  ] as const) {
    await expect(tag({ [key]: value })).rejects.toMatchObject({ name: 'InvalidParameterValue' })
  }
  await expect(tag({})).rejects.toMatchObject({
    name: 'MissingParameter',
    message: 'The request must contain the parameter Tags.',
  })
  await expect(untag()).rejects.toMatchObject({ name: 'MissingParameter' })
  expect(await tags()).toEqual({ kept: 'x' })
  const gone = new TagQueueCommand({ QueueUrl: 'no-such-queue', Tags: { a: 'b' } })
  await expect(sqs.client.send(gone)).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
})

test('AWS Query names tags by number', async () => {
  const path = `/${ACCOUNT}/tagged`
  await sqs.query({ Action: 'TagQueue', 'Tag.1.Key': 'a', 'Tag.1.Value': 'b' }, path)
  await sqs.query({ Action: 'UntagQueue', 'TagKey.1': 'kept' }, path)
  const { text } = await sqs.query({ Action: 'ListQueueTags' }, path)
  expect(text.replaceAll(/\s*\n\s*/g, '')).toContain('<Tag><Key>a</Key><Value>b</Value></Tag>')
  expect(text).not.toContain('kept')
})
