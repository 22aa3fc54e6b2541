/** A served API and the SDK's unmodified client of SQS. Tests of the protocol itself make raw requests. */
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { SHARD_COUNT, shardBase } from '@fantail/store'
import { skewKey } from '@fantail/test-kit'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'
import { createApp } from '../../server/app.ts'
import { listen } from '../../server/server.ts'

export const ACCOUNT = '000000000000'
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }

export interface SqsApi {
  api: TestApi
  endpoint: string
  client: SQSClient
  /** Makes a queue for one test and returns its name. With FifoQueue the name ends in `.fifo`. */
  createQueue(attributes?: Record<string, string>): Promise<string>
  /** AWS Query by POST, with the version added. */
  query(parameters: Record<string, string>, path?: string): Promise<RawAnswer>
  /** AWS JSON. */
  json(operation: string, input: object, path?: string): Promise<RawAnswer>
  /** Moves Redis's time by this many ms. */
  later(ms: number): Promise<void>
  stop(): Promise<void>
}

interface RawAnswer {
  status: number
  headers: Headers
  text: string
}

export async function startSqsApi(): Promise<SqsApi> {
  const api = await startTestApi()
  const server = await listen(createApp(api.deps), { host: '127.0.0.1', port: 0 })
  const endpoint = `http://127.0.0.1:${server.port}`
  const client = new SQSClient({ endpoint, region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1 })
  let skewMs = 0
  let queues = 0
  const post = async (path: string, init: RequestInit): Promise<RawAnswer> => {
    const response = await fetch(endpoint + path, { ...init, method: 'POST' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return {
    api,
    endpoint,
    client,
    async createQueue(Attributes = {}) {
      queues += 1
      const QueueName = `queue-${queues}${Attributes.FifoQueue ? '.fifo' : ''}`
      await client.send(new CreateQueueCommand({ QueueName, Attributes }))
      return QueueName
    },
    query: (parameters, path = '/') =>
      post(path, { body: new URLSearchParams({ Version: '2012-11-05', ...parameters }) }),
    json: (operation, input, path = '/') =>
      post(path, {
        headers: {
          'Content-Type': 'application/x-amz-json-1.0',
          'X-Amz-Target': `AmazonSQS.${operation}`,
          'x-amzn-query-mode': 'true',
        },
        body: JSON.stringify(input),
      }),
    async later(ms) {
      skewMs += ms
      const pipeline = api.redis.pipeline()
      for (let shard = 0; shard < SHARD_COUNT; shard++) pipeline.set(skewKey(shardBase(shard)), skewMs)
      await pipeline.exec()
    },
    async stop() {
      client.destroy()
      await server.close()
      await api.stop()
    },
  }
}
