/**
 * The rules of the consumer on a foreign implementation of SQS: moto's server. Without moto these tests are skipped.
 */
import { SQSClient } from '@aws-sdk/client-sqs'
import { useRedis } from '@fantail/test-kit/use-redis'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type QueueMaker, sqsQueues } from './consumed-queues.fixture.ts'
import { describeConsumer } from './consumer-rules.fixture.ts'
import { expectKillsToLoseNothing } from './killed-consumers.ts'
import { type MotoServer, motoPython, startMoto } from './moto-server.ts'

const python = motoPython()

describe.skipIf(python === undefined)('a foreign SQS, which moto serves', async () => {
  const { redis, server } = await useRedis()
  let moto: MotoServer | undefined
  let sqs: SQSClient | undefined
  beforeAll(async () => {
    moto = await startMoto(python ?? '')
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    sqs = new SQSClient({ endpoint: moto.url, region: 'us-east-1', credentials })
  }, 60_000)
  afterAll(async () => {
    sqs?.destroy()
    await moto?.stop()
  })
  const maker: QueueMaker = { ...sqsQueues(() => sqs as SQSClient, "moto's SQS"), waitSeconds: 1 }

  describeConsumer(maker, () => redis)

  test(
    'killed consumers: nothing lost, at most what was under way repeated',
    () => expectKillsToLoseNothing(maker, 'killed', { connection: redis, redisUrl: server.url, env: {} }),
    120_000,
  )
})
