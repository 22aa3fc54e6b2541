/** The same with Fantail: one publish, and a subscription for each endpoint. */
import { Fantail } from '@fantail/client'
import { startReceivers } from './receivers.mjs'

const got = []
const receivers = await startReceivers((name, body) => void got.push(`${name} got ${body}`))

const fantail = new Fantail()
const topic = fantail.topics('webhooks')
await topic.create()
for (const endpoint of receivers.endpoints) {
  await topic.subscribe({
    endpoint,
    rawMessageDelivery: true,
    deliveryPolicy: { healthyRetryPolicy: { numRetries: 5, minDelayTarget: 1, maxDelayTarget: 60 } },
  })
}

// Fantail accepts the message once for all endpoints. Each endpoint has its own lane, so a slow one delays no other.
const { messageId } = await topic.publish({ order: 7 })

while (got.length < receivers.endpoints.length) await new Promise((resolve) => setTimeout(resolve, 20))
console.log(got.sort().join('\n'))
console.log(`fantail explain ${messageId}`)
await topic.delete()
receivers.close()
