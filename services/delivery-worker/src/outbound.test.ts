/** Endpoints with secrets, from what is stored to what the endpoint sees. */
import { createHttpSender, hideCredentials, keepOutbound, type OutboundOptions } from '@fantail/delivery'
import { type Receiver, startReceiver, waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createFakeSender, createFixture, type Fixture, TOPIC } from './worker.fixture.ts'

let fixture: Fixture
let hook: Receiver
let vault: Vault

beforeAll(async () => {
  fixture = await createFixture()
})
beforeEach(async () => {
  await fixture.reset()
  hook = await startReceiver()
  vault = newVault()
})
afterEach(() => hook.close())
afterAll(() => fixture.stop())

function newVault(): Vault {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return createVault([key])
}

const startWorker = (using: Vault | undefined) =>
  fixture.startWorker(createFakeSender(), {
    sender: createHttpSender({ allowPrivate: true, timeoutMs: 3_000 }),
    vault: using,
  })

async function subscribe(url: string, options: OutboundOptions) {
  const endpoint = await hideCredentials(url)
  const kept = keepOutbound({ url, ...options }, { topicArn: TOPIC, endpoint }, vault)
  const healthyRetryPolicy = { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 20 }
  return fixture.subscribe('unused', { endpoint, ...kept, deliveryPolicy: { healthyRetryPolicy } })
}

test('credentials and headers reach the endpoint, the express way and from the lane', async () => {
  hook.respond('/', (_, n) =>
    n === 1
      ? { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } }
      : { status: n === 2 ? 503 : 200 },
  )
  await subscribe(hook.url.replace('//', '//user:word@'), { headers: { 'X-Api-Key': 'k' } })
  await startWorker(vault)
  await fixture.publish('hello')
  const requests = await hook.waitForRequests(3)
  expect(requests.map(({ headers }) => headers['x-api-key'])).toEqual(['k', 'k', 'k'])
  const basic = `Basic ${btoa('user:word')}`
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, basic, basic])
})

test('what cannot be opened waits for its key instead of being sent without its secrets', async () => {
  const { id } = await subscribe(hook.url, { headers: { 'X-Api-Key': 'k' } })
  const keyless = await startWorker(undefined)
  const messageId = await fixture.publish('hello')
  await waitFor(async () =>
    (await fixture.outcomes.deliveries(messageId))?.some(({ lastError }) => lastError === 'secrets'),
  )
  await keyless.stop()
  const stranger = await startWorker(newVault())
  await fixture.publish('again')
  await waitFor(async () => (await figures(id)).waiting === 2)
  await stranger.stop()
  expect(hook.requests).toEqual([])
  await startWorker(vault)
  await hook.waitForRequests(2)
  expect(new Set(hook.requests.map(({ headers }) => headers['x-api-key']))).toEqual(new Set(['k']))
})

async function figures(id: string) {
  const place = await fixture.subscriptions.locate(id)
  const [found] = await fixture.lanes.figures([{ subscriptionId: id, shard: place?.shard ?? -1 }])
  if (!found) throw new Error('no such lane')
  return found
}
