/** An Idempotency-Key belongs to the topic that it was used for. If the topic is created again, it has no keys. */
import { CreateTopicCommand, DeleteTopicCommand } from '@aws-sdk/client-sns'
import { topicArn } from '@fantail/contracts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SnsApi, startSnsApi } from '../aws/sns/sns.fixture.ts'

let sns: SnsApi
beforeAll(async () => {
  sns = await startSnsApi()
})
afterAll(() => sns.stop())

const BODIES = [
  { message: 'one', groupId: 'g', deduplicationId: 'd1' },
  {
    messages: [
      { message: 'two', groupId: 'g', deduplicationId: 'd2' },
      { message: 'three', groupId: 'g', deduplicationId: 'd3' },
    ],
  },
]

type Publish = (topic: string) => Promise<{ ids: string[]; replayed: boolean }[]>

/** A single message and a batch, each with a key. */
const publishBoth: Publish = (topic) =>
  Promise.all(BODIES.map((body, i) => publish(topic, topic.endsWith('.fifo') ? body : plain(body), `k${i}`)))

async function publish(topic: string, body: object, key: string) {
  const {
    status,
    body: answer,
    headers,
  } = await sns.api.call('POST', `/v1/topics/${topic}/messages`, {
    body,
    headers: { 'Idempotency-Key': key },
  })
  expect([status, answer]).toEqual([202, expect.anything()])
  const receipts: { messageId: string }[] = answer.results ?? [answer]
  const ids = receipts.map(({ messageId }) => messageId)
  return { ids, replayed: headers.get('idempotent-replayed') === 'true' }
}

function plain({ message, messages }: { message?: string; messages?: { message: string }[] }): object {
  return messages ? { messages: messages.map((entry) => ({ message: entry.message })) } : { message }
}

const native = {
  make: async (topic: string) => void (await sns.api.call('PUT', `/v1/topics/${topic}`)),
  remove: async (topic: string) => void (await sns.api.call('DELETE', `/v1/topics/${topic}`)),
}
const aws = {
  make: async (Name: string) => {
    const fifo = Name.endsWith('.fifo') && { Attributes: { FifoTopic: 'true' } }
    await sns.client.send(new CreateTopicCommand({ Name, ...fifo }))
  },
  remove: async (topic: string) => {
    await sns.client.send(new DeleteTopicCommand({ TopicArn: topicArn(topic) }))
  },
}
/** Another process does this, so the cache of this process still has the earlier topic. */
const elsewhere = {
  make: async (topic: string) => void (await sns.api.deps.topics.put(topicArn(topic), {})),
  remove: async (topic: string) => sns.api.deps.topics.delete(topicArn(topic)),
}

describe.each([
  ['the native API', 'native', native],
  ['the AWS wire', 'aws', aws],
  ['another process', 'elsewhere', elsewhere],
])('a topic that is deleted and made again by %s', (_, name, { make, remove }) => {
  test.each([`${name}-made-again`, `${name}-made-again.fifo`])('knows no earlier key: %s', async (topic) => {
    await make(topic)
    const before = await publishBoth(topic)
    expect(await publishBoth(topic)).toEqual(before.map(({ ids }) => ({ ids, replayed: true })))
    await remove(topic)
    await make(topic)
    const after = await publishBoth(topic)
    expect(after.map(({ replayed }) => replayed)).toEqual([false, false])
    expect(after.flatMap(({ ids }) => ids)).not.toContain(before[0]?.ids[0])
    const uid = (await sns.api.deps.topics.get(topicArn(topic)))?.uid
    const stored = (await sns.api.published()).filter(({ messageId }) => messageId === after[0]?.ids[0])
    if (!topic.endsWith('.fifo')) expect(stored).toMatchObject([{ topicUid: uid }])
  })
})

test('a key in flight while its topic is made again is that of the new topic', async () => {
  const topic = 'in-flight'
  await native.make(topic)
  const { publisher } = sns.api.deps
  const store = publisher.publish.bind(publisher)
  sns.api.deps.publisher = {
    publish: async (...given) => {
      sns.api.deps.publisher = publisher
      await elsewhere.remove(topic)
      await elsewhere.make(topic)
      await store(...given)
    },
  }
  const first = await publish(topic, { message: 'x' }, 'k')
  const again = await publish(topic, { message: 'x' }, 'k')
  expect(again).toEqual({ ids: first.ids, replayed: true })
})
