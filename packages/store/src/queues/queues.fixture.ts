/** Shared by the tests of queues and redrives. */
import { createMessageId, type DeadLetter, type Message, queueArn } from '@fantail/contracts'
import { connectPatiently, skewKey, startRedis, type TestRedis } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { afterAll } from 'vitest'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { Queues } from './queues.ts'

interface QueueFixture {
  server: TestRedis
  redis: Redis
  queues: Queues
  /** Problems that `queues` reported. */
  problems: Error[]
  /** Sets how far every shard's time is ahead of Redis's. */
  skew(ms: number): Promise<void>
  /** All keys except those that expire: of the skew, deletions, receive attempts and deduplication. */
  keys(): Promise<string[]>
  stop(): Promise<void>
}

export async function startQueues(options: { args?: string[] } = {}): Promise<QueueFixture> {
  const server = await startRedis(options)
  // A connection of Fantail gives up on a Redis that a busy machine leaves without a processor.
  const redis = connectPatiently(server.url)
  const problems: Error[] = []
  return {
    server,
    redis,
    problems,
    queues: new Queues(redis, { onProblem: (error) => problems.push(error) }),
    skew: async (ms) => {
      const pipeline = redis.pipeline()
      for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.set(skewKey(shardBase(shard)), ms)
      await pipeline.exec()
    },
    keys: async () =>
      (await redis.keys('*'))
        .filter((key) => !/:skew$|:queue:deleted:|:q:[^:]+:[ad]:[0-9a-f]{40}$/.test(key))
        .sort(),
    stop: async () => {
      redis.disconnect()
      await server.stop()
    },
  }
}

/** Queues for the tests of one file. They are stopped after the last test. */
export async function useQueues(): Promise<QueueFixture> {
  const fixture = await startQueues()
  afterAll(() => fixture.stop())
  return fixture
}

let arns = 0

/** A queue's ARN that no other test has. */
export function newArn(name = 'queue'): string {
  arns += 1
  return queueArn(`${name}-${arns}`)
}

export function newFifoArn(name = 'queue'): string {
  return `${newArn(name)}.fifo`
}

export function aMessage(text = 'hello'): Message {
  const publishedAt = Date.now()
  return {
    messageId: createMessageId(publishedAt),
    topicArn: 'arn:aws:sns:us-east-1:000000000000:orders',
    publishedAt,
    message: text,
  }
}

export function aDeadLetter(set: Partial<DeadLetter> = {}): DeadLetter {
  const message = set.message ?? aMessage()
  return {
    reason: 'permanent',
    statusCode: 404,
    lastError: null,
    attempts: 1,
    subscriptionArn: `${message.topicArn}:6b0c5f0e-27a5-4b0d-9a53-0f3ecb9a1d11`,
    topicArn: message.topicArn,
    messageId: message.messageId,
    generation: 0,
    publishedAt: message.publishedAt,
    deadLetteredAt: Date.now(),
    message,
    ...set,
  }
}
