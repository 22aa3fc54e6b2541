/** A fan-out without Fantail: one job for each endpoint, with BullMQ's retries. It needs REDIS_URL. */
import { Queue, Worker } from 'bullmq'
import { startReceivers } from './receivers.mjs'

const { hostname: host, port, password } = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
const connection = { host, port: Number(port), ...(password && { password }), maxRetriesPerRequest: null }
const got = []
const receivers = await startReceivers((name, body) => void got.push(`${name} got ${body}`))

const queue = new Queue('webhooks', { connection })
const worker = new Worker(
  'webhooks',
  async ({ data: { url, body } }) => {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(15_000) })
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  },
  // All endpoints share this number, so the requests to a slow endpoint can use up all of it.
  { connection, concurrency: 50 },
)

// One job is added after the other. A crash between two of them leaves the message sent to some endpoints only.
for (const url of receivers.endpoints) {
  const data = { url, body: JSON.stringify({ order: 7 }) }
  await queue.add('webhook', data, { attempts: 5, backoff: { type: 'exponential', delay: 100 } })
}

while (got.length < receivers.endpoints.length) await new Promise((resolve) => setTimeout(resolve, 20))
console.log(got.sort().join('\n'))
await worker.close()
await queue.obliterate({ force: true })
await queue.close()
receivers.close()
