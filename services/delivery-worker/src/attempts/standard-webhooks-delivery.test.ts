import { createWebhookKey } from '@fantail/delivery'
import { waitFor } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  createFixture,
  type FakeSender,
  type Fixture,
  urlOf,
} from '../fixtures/worker.fixture.ts'

let fixture: Fixture
let sender: FakeSender
const masterKey = parseMasterKey(createMasterKeyText())
const vault = masterKey && createVault([masterKey])

beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  await fixture.reset()
  sender = createFakeSender()
})

const sentTo = (name: string) => sender.sent.filter((sent) => sent.url === urlOf(name))
const RETRY_AT_ONCE = {
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 2, numNoDelayRetries: 2 },
}

async function subscribeSigned(name: string): Promise<string> {
  const { id } = await fixture.subscribe(name, { deliveryPolicy: RETRY_AT_ONCE })
  const now = Date.now()
  const { key, secret = '' } = createWebhookKey({ subscriptionId: id, algorithm: 'hmac-sha256', now }, vault)
  await fixture.subscriptions.update(id, () => ({ webhookKeys: [key] }))
  return secret
}

test('each attempt is signed again, under the message’s id; others are not', async () => {
  const secret = await subscribeSigned('signed')
  await fixture.subscribe('plain')
  sender.answer = (_url, count) => (count < 2 ? 500 : 200)
  await fixture.startWorker(sender, { vault })
  await fixture.publish('{"n":1}')
  await waitFor(() => sentTo('signed').length === 2 && sentTo('plain').length > 0)
  const ids = sentTo('signed').map(({ headers, body }) => {
    expect(new Webhook(secret).verify(body, headers)).toEqual({ n: 1 })
    return headers['webhook-id']
  })
  expect(ids[0]).toBe(ids[1])
  expect(ids[0]).toBe(sentTo('signed')[0]?.headers['x-amz-sns-message-id'])
  expect(
    Object.keys(sentTo('plain')[0]?.headers ?? {}).filter((name) => name.startsWith('webhook-')),
  ).toEqual([])
})

test('without the master key nothing goes out unsigned, and the delivery waits', async () => {
  await subscribeSigned('signed')
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await fixture.subscribe('plain')
  await fixture.publish('more')
  await waitFor(() => sentTo('plain').length > 0)
  expect(sentTo('signed')).toEqual([])
})
