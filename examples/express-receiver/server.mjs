import { Fantail, VerifyError, verifyWebhook } from '@fantail/client'
import express from 'express'

const port = Number(process.env.PORT ?? 3000)
const keys = []
/** Ids of messages that were handled. A real service keeps them in its database, in the transaction of the work. */
const handled = new Set()

const app = express()

// The signature covers the bytes as they came, so this route must not parse the body first.
app.post('/hooks', express.raw({ type: '*/*', limit: '1mb' }), async (request, response) => {
  const event = await verifyWebhook({ headers: request.headers, body: request.body }, { keys })
  if (!handled.has(event.messageId)) {
    handled.add(event.messageId)
    console.log('received', event.message)
  }
  response.status(204).end()
})

app.use((error, _request, response, _next) => {
  // Without a 2xx Fantail sends the message again. A wrong signature stays wrong, so it gets a 401, which is not
  // retried.
  if (error instanceof VerifyError) return response.status(401).send(error.code)
  console.error(error)
  response.status(500).send('failed')
})

app.listen(port, '127.0.0.1', () => subscribe())

/** A real service subscribes once, and reads its key from a secret store. */
async function subscribe() {
  const fantail = new Fantail()
  const topic = fantail.topics('orders')
  await topic.create()
  const { id } = await topic.subscribe({ endpoint: `http://127.0.0.1:${port}/hooks` })
  const { secret } = await fantail.subscriptions(id).createWebhookKey()
  keys.push(secret)
  console.log(`ready on port ${port}`)
}
