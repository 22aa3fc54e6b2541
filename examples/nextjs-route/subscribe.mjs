/** Subscribes the route, and starts the server with the key. A real service reads its key from a secret store. */
import { spawn } from 'node:child_process'
import { Fantail } from '@fantail/client'

const port = process.env.PORT ?? '3000'
const fantail = new Fantail()
const topic = fantail.topics('orders')
await topic.create()
const { id } = await topic.subscribe({ endpoint: `http://127.0.0.1:${port}/hooks` })
const { secret } = await fantail.subscriptions(id).createWebhookKey()

const server = spawn(
  process.execPath,
  ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1', '-p', port],
  {
    env: { ...process.env, WEBHOOK_KEY: secret },
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal))
server.on('exit', (code) => process.exit(code ?? 0))
