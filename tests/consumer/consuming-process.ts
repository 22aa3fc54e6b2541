/**
 * A consumer as a process, for a test that kills it. It records in Redis which messages its handler begins and ends.
 * The lists `begun:<queue>` and `ended:<queue>` have the bodies of these messages. Arguments: the queue (a name, or an
 * SQS queue's URL), and the URL of Redis.
 */
import { consume, fantailQueue, sqs } from '@fantail/consumer'
import { Redis } from 'ioredis'

const [queue = '', redisUrl = ''] = process.argv.slice(2)
// Not by @fantail/store, whose sources take longer to load than everything else.
const redis = new Redis(redisUrl)
const client = URL.canParse(queue) ? await createSqs(new URL(queue).origin) : undefined
const source = client ? sqs(queue, { client }) : fantailQueue(queue)

const consumer = consume(
  source,
  async ({ body }) => {
    await redis.rpush(`begun:${queue}`, body)
    await redis.rpush(`ended:${queue}`, body)
  },
  { concurrency: 5, visibilitySeconds: 1, waitSeconds: 1 },
)
consumer.on('problem', (error) => console.error(error))
process.once('SIGTERM', () => {
  void consumer.stop().then(() => {
    redis.disconnect()
    client?.destroy()
  })
})

async function createSqs(endpoint: string) {
  const { SQSClient } = await import('@aws-sdk/client-sqs')
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return new SQSClient({ endpoint, region: 'us-east-1', credentials })
}
