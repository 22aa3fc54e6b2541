import { createMessageId, type Message } from '@fantail/contracts'
import { connect, type Redis, readMessage } from '@fantail/store'
import { waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { createPublisher } from '../publishing/publisher.ts'
import { DispatchConsumer } from './dispatch-consumer.ts'
import { DispatchConsumers } from './dispatch-consumers.ts'

const { server, redis } = await useRedis({ connect })

function message(text: string): Message {
  const publishedAt = Date.now()
  return {
    messageId: createMessageId(publishedAt),
    topicArn: 'arn:aws:sns:us-east-1:000000000000:t',
    publishedAt,
    message: text,
  }
}

test('jobs of publishers with another number of queues are dispatched, and their queues released', async () => {
  const publisher = createPublisher({ url: server.url, queues: 4, minReplicas: 0 })
  await waitFor(() => publisher.ready)
  const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  for (const text of texts) await publisher.publish([message(text)], { bytes: 300, fanOut: 1 })
  await publisher.close()
  const seen: string[] = []
  const log = { warn: () => undefined, info: () => undefined }
  const create = (queue: number) =>
    new DispatchConsumer({
      url: server.url,
      redis,
      queue,
      jobsMax: 16,
      run: async ({ messages }) => {
        seen.push(...messages.map((body) => readMessage(body).message))
        return 'settled'
      },
      completed: () => undefined,
      quarantine: async () => 'added',
      log,
    })
  const consumers = new DispatchConsumers({ redis, queues: 1, create, log, searchEveryWatches: 2 })
  await consumers.start()
  await waitFor(() => consumers.draining.length === 3)
  await waitFor(() => seen.length === texts.length)
  expect(seen.toSorted()).toEqual(texts)
  await waitFor(() => {
    consumers.watch()
    return consumers.draining.length === 0
  })
  expect(consumers.all()).toHaveLength(1)
  await consumers.stop()
})

test('an outage is reported once, however often the other queues are looked for', async () => {
  let searches = 0
  const exec = async () => {
    searches++
    throw new Error('Connection is closed.')
  }
  const away = { pipeline: () => ({ exists: () => undefined, exec }) } as unknown as Redis
  const lines: string[] = []
  const log = { warn: (_: object, line: string) => lines.push(line), info: () => undefined }
  const done = async () => undefined
  const idle = { start: done, stop: done, watch: done } as unknown as DispatchConsumer
  const consumers = new DispatchConsumers({
    redis: away,
    queues: 1,
    create: () => idle,
    log,
    searchEveryWatches: 1,
  })
  await consumers.start()
  await waitFor(() => {
    consumers.watch()
    return searches > 3
  })
  await consumers.stop()
  expect(lines).toEqual(['dispatch.search_failed'])
})
