import { Fantail, VerifyError, verifyWebhook } from '@fantail/client'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const port = Number(process.env.PORT ?? 3000)
const keys = []
/** Ids of messages that were handled. A real service keeps them in its database, in the transaction of the work. */
const handled = new Set()

const app = new Hono()

app.post('/hooks', async (c) => {
  const event = await verifyWebhook(c.req.raw, { keys })
  if (!handled.has(event.messageId)) {
    handled.add(event.messageId)
    console.log('received', event.message)
  }
  return c.body(null, 204)
})

app.onError((error, c) => {
  // Without a 2xx Fantail sends the message again. A wrong signature stays wrong, so it gets a 401, which is not
  // retried.
  if (error instanceof VerifyError) return c.text(error.code, 401)
  console.error(error)
  return c.text('failed', 500)
})

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => subscribe())

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
