/** Runs the commands of the guides unchanged, on one stack. */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createOwnHosts } from '@fantail/config'
import { freePort, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReceiver } from '../../infra/receiver/src/local-receiver.ts'
import { createMailSink, Mails } from '../../infra/receiver/src/mail-sink.ts'
import { publish, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'
import { textOf } from '../repo/repository.ts'
import { commandsOfTable, filledIn } from './guide-steps.ts'
import { createShell, isInstalled } from './shell.ts'

const API = 'http://127.0.0.1:4100'
const WORKER = 'http://127.0.0.1:4101'
const RECEIVER = 'http://127.0.0.1:4109'
/** The AWS CLI starts slowly: on a very busy machine its guide takes a minute. */
const GUIDE_TIMEOUT_MS = 120_000

const receiverPort = await freePort()
const smtpPort = await freePort()
const env = {
  FANTAIL_FUNCTIONS: JSON.stringify({ '*': `http://127.0.0.1:${receiverPort}` }),
  FANTAIL_STREAMS: JSON.stringify({ '*': `http://127.0.0.1:${receiverPort}/firehose` }),
  FANTAIL_SMS_URL: `http://127.0.0.1:${receiverPort}/sms`,
  FANTAIL_SMS_COUNTRIES: '+1=0.001',
  FANTAIL_FCM_URL: `http://127.0.0.1:${receiverPort}`,
  FANTAIL_FCM_TOKEN_URL: `http://127.0.0.1:${receiverPort}/token`,
  FANTAIL_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
}
const mails = new Mails()
const sink = createMailSink({ mails, print: () => undefined })
const stack = useStack({ redrive: true, env })
let receiver: Server

beforeAll(async () => {
  await new Promise<void>((resolve) => void sink.listen(smtpPort, '127.0.0.1', resolve))
  const ownHosts = createOwnHosts({ mode: 'local' })
  receiver = createReceiver({ print: () => undefined, ownHosts, mails })
  await new Promise<void>((resolve) => receiver.listen(receiverPort, '127.0.0.1', resolve))
})

afterAll(async () => {
  receiver.closeAllConnections()
  await Promise.all(
    [receiver, sink].map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  )
})

function shell(known = new Map<string, string>()) {
  const { api, redis, worker } = stack()
  const { port } = receiver.address() as AddressInfo
  const addresses = { [API]: api.url, [WORKER]: worker(0).url, [RECEIVER]: `http://127.0.0.1:${port}` }
  return createShell({ addresses, env: { REDIS_URL: redis.url }, known })
}

for (const [name, tool] of [
  ['cli'],
  ['webhooks'],
  ['event-types'],
  ['retries'],
  ['functions'],
  ['streams'],
  ['email'],
  ['notices'],
  ['act-on-many'],
  ['sms'],
  ['mobile-push'],
  ['aws', 'aws'],
] as const) {
  test.skipIf(tool && !isInstalled(tool))(
    `the commands of docs/guides/${name}.md print what stands there`,
    async () => {
      await shell().runGuide(`docs/guides/${name}.md`)
    },
    GUIDE_TIMEOUT_MS,
  )
}

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

describe('docs/guides/on-call.md', () => {
  const guide = textOf('docs/guides/on-call.md')
  const known = new Map<string, string>()

  beforeAll(async () => {
    const { client } = stack()
    await client.put('/v1/queues/dead')
    await client.post('/v1/keys', { name: 'on-call', scopes: ['read'] })
    const { port } = receiver.address() as AddressInfo
    const endpoint = `http://127.0.0.1:${port}/status/404`
    await subscribe(stack(), 'orders', { endpoint })
    await subscribe(stack(), 'orders', { endpoint: `${endpoint}?discards`, redrivePolicy: null })
    const paused = await subscribe(stack(), 'orders', { endpoint: `${endpoint}?paused` })
    await client.post(`/v1/subscriptions/${paused.id}/pause`)
    const messageId = await publish(stack(), 'orders', 'x')
    type Message = { counts?: { discarded: number; deadLettered: number; waiting: number } }
    await waitFor(async () => {
      const { counts } = (await client.call<Message>('GET', `/v1/messages/${messageId}`)).body
      return counts && counts.discarded > 0 && counts.deadLettered > 0 && counts.waiting > 0
    })
    await stack().connection.save()
    const [, folder = ''] = (await stack().connection.config('GET', 'dir')) as string[]
    known.set('messageId', messageId).set('subscriptionId', paused.id).set('backup', join(folder, 'dump.rdb'))
  })

  for (const { row, command } of commandsOfTable(guide, 'command')) {
    const tool = { 'redis-cli': 'redis-cli', fantail: 'redis-server' }[command.split(' ')[0] ?? '']
    const lacks = tool !== undefined && !isInstalled(tool)
    test.skipIf(lacks)(`the command for ${row} prints something`, async () => {
      expect(await shell().run(filledIn(command, known))).not.toBe('')
    })
  }

  test('every alert has its row', () => {
    const alerts = textOf('infra/prometheus/alerts.yml').matchAll(/- alert: (\w+)/g)
    expect([...alerts].map(([, name = '']) => name).filter((name) => !guide.includes(name))).toEqual([])
  })
})
