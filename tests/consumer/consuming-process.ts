/**
 * A consumer as a process, for a test that kills it. It records in Redis which messages its handler begins and ends.
 * The lists `begun:<queue>` and `ended:<queue>` have the bodies of these messages. Arguments: the queue (a name, or an
 * SQS queue's URL), and the URL of Redis.
 */
import { SQSClient } from '@aws-sdk/client-sqs'
import { consume, fantailQueue, sqs } from '@fantail/consumer'
import { connect, whenReady } from '@fantail/store'

const [queue = '', redisUrl = ''] = process.argv.slice(2)
const redis = connect({ url: redisUrl, name: 'consuming-process' })
await whenReady(redis)
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
const isUrl = URL.canParse(queue)
const client = isUrl
  ? new SQSClient({ endpoint: new URL(queue).origin, region: 'us-east-1', credentials })
  : undefined
const source = isUrl ? sqs(queue, { client: client as SQSClient }) : fantailQueue(queue)

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
