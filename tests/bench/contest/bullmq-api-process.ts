/** An API as a user of BullMQ would write it: a route that adds one job per subscription. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Queue } from 'bullmq'
import { Hono } from 'hono'
import { answer } from '../processes/ipc.ts'
import { BULLMQ_QUEUE, type BullmqJob, bullmqConnection } from './bullmq-job.ts'

const queue = new Queue<BullmqJob>(BULLMQ_QUEUE, {
  connection: bullmqConnection(),
  defaultJobOptions: {
    attempts: 50,
    backoff: { type: 'exponential', delay: 1_000 },
    removeOnComplete: true,
  },
})
const topics = new Map<string, string[]>()

const app = new Hono()
app.post('/topics/:topic/messages', async (context) => {
  const { message } = await context.req.json<{ message?: unknown }>()
  const urls = topics.get(context.req.param('topic'))
  if (typeof message !== 'string' || !urls) return context.json({ error: 'invalid' }, 400)
  const messageId = crypto.randomUUID()
  await queue.addBulk(urls.map((url) => ({ name: 'deliver', data: { messageId, url, message } })))
  return context.json({ messageId }, 202)
})

await queue.waitUntilReady()
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address: AddressInfo) => {
  const handlers = {
    port: () => address.port,
    topic: ({ topic, urls }: { topic: string; urls: string[] }) => void topics.set(topic, urls),
  }
  answer(handlers, async () => {
    server.close()
    await queue.close()
  })
})
