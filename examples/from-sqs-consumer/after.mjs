/** The same with @fantail/consumer. `consume('orders-after', …)` uses Fantail's own API instead of SQS's. */
import { consume, sqs } from '@fantail/consumer'
import { setUp } from './setup.mjs'

const { client, queueUrl } = await setUp('orders-after')
let failures = 1

const consumer = consume(
  sqs(queueUrl, { client }),
  async ({ body }) => {
    if (failures-- > 0) throw new Error('not yet')
    console.log('handled', body)
  },
  { visibilitySeconds: 30, backoff: () => 0 },
)
consumer.on('failed', (_message, error) => console.log('failed', error.message))
consumer.on('succeeded', async () => {
  await consumer.stop()
  client.destroy()
})
