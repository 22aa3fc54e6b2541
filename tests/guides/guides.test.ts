/** The guides’ commands, run as they stand, against one stack. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOwnHosts } from '@fantail/config'
import { freePort, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReceiver } from '../../infra/receiver/src/local-receiver.ts'
import { publish } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { createShell } from './shell.ts'

const API = 'http://127.0.0.1:4100'
const WORKER = 'http://127.0.0.1:4101'
const RECEIVER = 'http://127.0.0.1:4109'
const GUIDE_TIMEOUT_MS = 60_000

const stack = useStack({ redrive: true })
let receiver: Server

beforeAll(async () => {
  receiver = createReceiver({ print: () => undefined, ownHosts: createOwnHosts({ mode: 'local' }) })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})

afterAll(async () => {
  receiver.closeAllConnections()
  await new Promise((resolve) => receiver.close(resolve))
})

function shell() {
  const { api, redis, worker } = stack()
  const { port } = receiver.address() as AddressInfo
  const addresses = { [API]: api.url, [WORKER]: worker(0).url, [RECEIVER]: `http://127.0.0.1:${port}` }
  return createShell({ addresses, env: { REDIS_URL: redis.url } })
}

test.each(['webhooks', 'retries'])(
  'the commands of docs/guides/%s.md print what stands there',
  async (name) => {
    await shell().runGuide(`docs/guides/${name}.md`)
  },
  GUIDE_TIMEOUT_MS,
)

test('the receiver of docs/guides/webhooks.md takes what Fantail signs, once, and nothing else', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const port = await freePort()
  const source = /```js\n([\s\S]*?)```/.exec(textOf('docs/guides/webhooks.md'))?.[1] ?? ''
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) }
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = `http://127.0.0.1:${port}/`
    const printed: string[] = []
    child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
    const post = () => fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined)
    expect((await waitFor(post)).status).toBe(400)

    const { client } = stack()
    await client.put('/v1/topics/signed')
    const subscription = { endpoint: url, rawMessageDelivery: true }
    const { id } = await client.post<{ id: string }>('/v1/topics/signed/subscriptions', subscription)
    await client.post(`/v1/subscriptions/${id}/webhook-keys`, { secret })
    expect(await client.post(`/v1/subscriptions/${id}/test`)).toMatchObject({ statusCode: 204 })
    const messageId = await publish(stack(), 'signed', { event: 'invoice.paid' })
    await waitFor(() => printed.join('').includes(`${messageId} {"event":"invoice.paid"}`))
  } finally {
    child.kill()
  }
})
