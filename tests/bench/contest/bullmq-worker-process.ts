/**
 * A worker as a user of BullMQ would write it. One job is one request. A failure throws, and BullMQ retries. With
 * BENCH_WEBHOOK_SECRET it signs as Standard Webhooks say.
 */
import { createHmac } from 'node:crypto'
import { Worker } from 'bullmq'
import { request } from 'undici'
import { answer } from '../processes/ipc.ts'
import { BULLMQ_QUEUE, type BullmqJob, bullmqConnection } from './bullmq-job.ts'

const CONCURRENCY = Number(process.env.BENCH_CONCURRENCY ?? 100)
const SECRET = process.env.BENCH_WEBHOOK_SECRET

const worker = new Worker<BullmqJob>(
  BULLMQ_QUEUE,
  async ({ data }) => {
    const { statusCode, body } = await request(data.url, {
      method: 'POST',
      headers: {
        'content-type': 'text/plain; charset=UTF-8',
        'x-message-id': data.messageId,
        ...(SECRET ? signature(SECRET, data) : {}),
      },
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

function signature(secret: string, { messageId, message }: BullmqJob): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const sum = createHmac('sha256', secret).update(`${messageId}.${timestamp}.${message}`).digest('base64')
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${sum}` }
}
