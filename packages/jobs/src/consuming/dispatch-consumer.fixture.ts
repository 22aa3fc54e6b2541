/** Consumers of one dispatch queue and a publisher, on the Redis of the test file. */
import { createMessageId, type Message } from '@fantail/contracts'
import { connect, Quarantine, readMessage } from '@fantail/store'
import { type TestRedisOptions, waitFor } from '@fantail/test-kit'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createPublisher } from '../publishing/publisher.ts'
import { DispatchConsumer } from './dispatch-consumer.ts'
import type { DispatchRun, RunEnd, RunId } from './dispatch-run.ts'

/** Prefix of the keys of queue 0. */
export const JOBS = 'ft:{dispatch-0}:dispatch-0'

export function message(text: string): Message {
  const publishedAt = Date.now()
  const topicArn = 'arn:aws:sns:us-east-1:000000000000:t'
  return { messageId: createMessageId(publishedAt), topicArn, publishedAt, message: text }
}

/** The texts of the run's messages. */
export const textsOf = (run: DispatchRun | undefined) =>
  run?.messages.map((body) => readMessage(body).message) ?? []

/** Id of the run's job. */
export const jobOf = (run: DispatchRun | undefined) => run?.jobName.split(':').at(1)

/** Empty after each test. */
export async function useConsumers(options: TestRedisOptions = {}) {
  const { server, redis } = await useRedis({ ...options, connect })
  const consumers: DispatchConsumer[] = []
  const quarantine = new Quarantine(redis)
  const publisher = createPublisher({ url: server.url, queues: 1, minReplicas: 0 })
  beforeAll(() => waitFor(() => publisher.ready))
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()))
    await redis.flushall()
  })
  afterAll(() => publisher.close())
  return {
    server,
    redis,
    quarantine,
    publish: (...texts: string[]) => publisher.publish(texts.map(message), { bytes: 300, fanOut: 1 }),
    quarantined: async () => (await quarantine.list({ limit: 10 })).items,
    async consume(run: (run: DispatchRun) => Promise<RunEnd | undefined>, jobsMax = 16) {
      const lines: string[] = []
      const completed: RunId[] = []
      const log = {
        warn: (_: object, line: string) => lines.push(line),
        info: (_: object, line: string) => lines.push(line),
      }
      const consumer = new DispatchConsumer({
        url: server.url,
        redis,
        queue: 0,
        jobsMax,
        run: async (one) => (await run(one)) ?? 'settled',
        completed: (ended) => completed.push(ended),
        quarantine: (entry) => quarantine.add(entry),
        log,
      })
      consumers.push(consumer)
      await consumer.start()
      return { consumer, lines, completed }
    },
  }
}
