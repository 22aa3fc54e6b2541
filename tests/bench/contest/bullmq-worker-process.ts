/** A worker as a user of BullMQ would write it. One job is one request. A failure throws, and BullMQ retries. */
import { Worker } from 'bullmq'
import { request } from 'undici'
import { answer } from '../processes/ipc.ts'
import { BULLMQ_QUEUE, type BullmqJob, bullmqConnection } from './bullmq-job.ts'

const CONCURRENCY = 100

const worker = new Worker<BullmqJob>(
  BULLMQ_QUEUE,
  async ({ data }) => {
    const { statusCode, body } = await request(data.url, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-message-id': data.messageId },
      body: data.message,
    })
    await body.dump()
    if (statusCode >= 300) throw new Error(`status ${statusCode}`)
  },
  { connection: bullmqConnection(), concurrency: CONCURRENCY },
)
worker.on('error', (error) => console.error(error))

await worker.waitUntilReady()
answer({}, () => worker.close())
