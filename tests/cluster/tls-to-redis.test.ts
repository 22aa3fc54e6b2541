/**
 * Connections to Redis over TLS, with a private authority and client certificates: one Redis, a cluster, and a master
 * behind Sentinels.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { connect, mastersOf, refuseWrong, whenReady } from '@fantail/store'
import {
  canSpawnTlsRedis,
  createTestTls,
  freePort,
  startRedis,
  type TestRedis,
  type TestRedisOptions,
  type TestTls,
  waitFor,
} from '@fantail/test-kit'
import { afterAll, afterEach, test as anyTest, beforeAll, expect } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification, publish, subscribe } from '../harness/receivers/webhooks.ts'
import { type PlaceKind, startPlace } from '../harness/services/redis-place.ts'
import { launcher } from '../harness/services/service-bundles.ts'
import { ServiceProcess } from '../harness/services/service-process.ts'
import { type Stack, startStack } from '../harness/services/stack.ts'

const test = anyTest.skipIf(!canSpawnTlsRedis())

const BIN = launcher()

const receiver = useReceiver()
const ends: (() => Promise<unknown>)[] = []
let tls: TestTls
/** Servers with certificates for another name than their address. */
let named: TestTls

beforeAll(async () => {
  tls = await createTestTls()
  named = await createTestTls('redis.internal')
})

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

afterAll(() => Promise.all([tls.remove(), named.remove()]))

async function start(place: PlaceKind, by = tls): Promise<Stack> {
  const stack = await startStack({
    place,
    redis: { tls: by },
    redrive: true,
    env: { FANTAIL_MIN_REPLICAS: place === 'single' ? '0' : '1' },
  })
  ends.push(() => stack.stop())
  return stack
}

async function server(options: TestRedisOptions): Promise<TestRedis> {
  const started = await startRedis({ spawned: true, ...options })
  ends.push(() => started.stop())
  return started
}

interface Received {
  messages: { body: string }[]
}

test.each<[PlaceKind, string, number]>([
  ['single', 'address', 1],
  ['cluster', 'address', 3],
  ['cluster', 'name', 3],
])(
  'a message goes to webhooks and to queues over TLS: %s, certified by %s',
  async (place, by, masters) => {
    const stack = await start(place, by === 'name' ? named : tls)
    expect(mastersOf(stack.connection)).toHaveLength(masters)
    await expectDelivery(stack, place)
  },
  90_000,
)

test('a message goes to webhooks and to queues behind Sentinels over TLS, and a master that dies is replaced', async () => {
  const stack = await start('sentinels', named)
  expect(mastersOf(stack.connection)).toHaveLength(1)
  await expectDelivery(stack, 'sentinels')
  const { sentinels } = stack.place
  await subscribe(stack, 'after', { endpoint: `${receiver().url}/after`, rawMessageDelivery: true })
  await stack.redis.kill()
  await waitFor(async () => (await sentinels?.master()) !== stack.redis, { timeoutMs: 20_000 })
  const accepted = async () => {
    const { status } = await stack.client.call('POST', '/v1/topics/after/messages', {
      body: { message: 'x' },
    })
    return status === 202
  }
  await waitFor(accepted, { timeoutMs: 20_000, intervalMs: 100 })
  await receiver().waitForRequests(1, '/after')
}, 120_000)

/** A message reaches a webhook and a queue, and no service complains. */
async function expectDelivery(stack: Stack, path: string): Promise<void> {
  await stack.client.put('/v1/queues/inbox')
  await subscribe(stack, 'news', { endpoint: `${receiver().url}/${path}` })
  const queue = 'arn:aws:sqs:us-east-1:000000000000:inbox'
  await stack.client.post('/v1/topics/news/subscriptions', { endpoint: queue, rawMessageDelivery: true })
  await publish(stack, 'news', 'sealed on its way')
  const [request] = await receiver().waitForRequests(1, `/${path}`)
  expect(request && notification(request).Message).toBe('sealed on its way')
  const { messages } = await stack.client.post<Received>('/v1/queues/inbox/receive', { waitSeconds: 5 })
  expect(messages.map(({ body }) => body)).toEqual(['sealed on its way'])
  const complaints = stack.services().flatMap((service) => service.logLines())
  expect(complaints.filter(({ level }) => level === 'error' || level === 'raw')).toEqual([])
}

test('another kind of Redis than the named one is reported over TLS, too', async () => {
  const plain = await server({ tls })
  const args = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]
  const node = await server({ tls, args })
  await refuseWrong({ url: plain.url, tls: tls.pem })
  await expect(refuseWrong({ url: node.url, tls: tls.pem })).rejects.toThrow('REDIS_CLUSTER_NODES')
  const nodes = [{ host: '127.0.0.1', port: plain.port }]
  await expect(refuseWrong({ nodes, tls: tls.pem })).rejects.toThrow('set REDIS_URL')
})

test('a move reads its source over TLS and writes to a Redis without', async () => {
  const [from, to] = [await server({ tls }), await server({})]
  const { ca: REDIS_TLS_CA_FILE, cert: REDIS_TLS_CERT_FILE, key: REDIS_TLS_KEY_FILE } = tls.files
  const env = { PATH: process.env.PATH, REDIS_TLS_CA_FILE, REDIS_TLS_CERT_FILE, REDIS_TLS_KEY_FILE }
  const source = connect({ url: { url: from.url, tls: tls.pem }, name: 'test' })
  await whenReady(source)
  await source.set('ft:{keys}:moved', '1').finally(() => source.disconnect())
  const words = [BIN, 'move', '--from', from.url, '--to', to.url]
  const { stdout } = await promisify(execFile)(process.execPath, words, { env })
  expect(stdout).toMatch(/^moved 1 keys, .* each compared with the source/)
})

test.each([
  ['the authority', () => tls, ['REDIS_TLS_CA_FILE'], /self-signed certificate|unable to/],
  [
    'a client certificate',
    () => tls,
    ['REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE'],
    /certificate required|closed|reset/i,
  ],
  ['the name', () => named, ['REDIS_TLS_SERVER_NAME'], /IP: 127.0.0.1 is not in the cert/],
] as const)('without %s it is said what is wrong, and waited', async (_, by, left, words) => {
  const place = await startPlace('single', { tls: by(), spawned: true })
  ends.push(() => place.stop())
  const env = Object.fromEntries(
    Object.entries(place.env).filter(([name]) => !left.some((one) => one === name)),
  )
  const api = new ServiceProcess('publish-api', 'api', { ...env, FANTAIL_PORT: '0' })
  ends.push(() => api.stop())
  await api.start({ untilReady: false })
  const told = () => api.logLines().find(({ msg }) => msg === 'redis.down')
  await waitFor(() => told() !== undefined)
  expect(JSON.stringify(told()?.err)).toMatch(words)
  expect(await api.isReady()).toBe(false)
})
