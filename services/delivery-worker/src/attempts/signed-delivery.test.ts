import { verify, X509Certificate } from 'node:crypto'
import { createMessageId, type Message } from '@fantail/contracts'
import { createSigningPair } from '@fantail/delivery'
import {
  Credentials,
  deliveryId,
  laneKey,
  messageBody,
  placeOfSubscription,
  SigningKeys,
  shardBase,
  signingPairKey,
  VaultKeys,
} from '@fantail/store'
import { waitFor, withoutToken } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { beforeEach, expect, test } from 'vitest'
import {
  createFakeSender,
  DLQ,
  type FakeSender,
  TOPIC,
  urlOf,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()
let sender: FakeSender
beforeEach(async () => {
  await fixture.topics.put(TOPIC, { signing: 'sns' })
  sender = createFakeSender()
})

type Envelope = Record<string, string>

const sentTo = (name: string) => sender.sent.filter((sent) => sent.url === urlOf(name))
const envelopesTo = (name: string) => sentTo(name).map(({ body }) => JSON.parse(body) as Envelope)
const subscribe = (name: string, set = {}) => fixture.subscribe(name, { rawMessageDelivery: false, ...set })
const RETRY_AT_ONCE = {
  healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 2, numNoDelayRetries: 2 },
}

async function verifies(envelope: Envelope | undefined): Promise<boolean> {
  const name =
    /SimpleNotificationService-([0-9a-f]{32})\.pem$/.exec(envelope?.SigningCertURL ?? '')?.[1] ?? ''
  const certificate = await new SigningKeys(fixture.redis).certificate(name)
  if (!envelope || !certificate) return false
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const present = names.filter((key) => key in envelope)
  const text = present.map((key) => `${key}\n${envelope[key]}\n`).join('')
  const digest = envelope.SignatureVersion === '1' ? 'sha1' : 'sha256'
  const { publicKey } = new X509Certificate(certificate)
  return verify(digest, Buffer.from(text), publicKey, Buffer.from(envelope.Signature ?? '', 'base64'))
}

test('[67][68] a message of a signed topic is signed once for all of its deliveries', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:work'
  await fixture.queues.put(queue, {})
  await Promise.all(['a', 'b'].map((name) => subscribe(name)))
  await subscribe('queue', { protocol: 'sqs', endpoint: queue })
  await subscribe('raw', { rawMessageDelivery: true })
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await waitFor(() => sender.sent.length === 3)
  const [a] = envelopesTo('a')
  const [b] = envelopesTo('b')
  expect([await verifies(a), a?.SignatureVersion]).toEqual([true, '1'])
  expect(b?.Signature).toBe(a?.Signature)
  expect(sentTo('raw').map(({ body }) => body)).toEqual(['hello'])
  const [received] = await fixture.queues.receive(queue, { maxMessages: 1 })
  const { UnsubscribeURL: _, ...inQueue } = JSON.parse(received?.body ?? '{}')
  expect(a).toMatchObject(inQueue)
})

test('with a master key the signing key stands sealed, noted as that key’s', async () => {
  const key = parseMasterKey(createMasterKeyText())
  const vault = key && createVault([key])
  await subscribe('a')
  await fixture.startWorker(sender, { vault, checkMasterKey: true })
  await fixture.publish('hello')
  await waitFor(() => sentTo('a').length === 1)
  expect(await verifies(envelopesTo('a')[0])).toBe(true)
  const kept = await fixture.redis.get(signingPairKey())
  expect(kept).toContain(`v1.${key?.id}.`)
  expect(kept).not.toMatch(/PRIVATE KEY|privateKey/)
  expect(await new VaultKeys(fixture.redis).all()).toEqual([key?.id])
})

test('a topic that does not sign needs no key', async () => {
  await fixture.topics.put(TOPIC, { signing: 'none' })
  await subscribe('a')
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await waitFor(() => sender.sent.length === 1)
  expect(Object.keys(envelopesTo('a')[0] ?? {}).filter((name) => name.startsWith('Sign'))).toEqual([])
  expect(await fixture.redis.exists(signingPairKey())).toBe(0)
})

test('all attempts of a delivery, and its dead letter, carry the same signature', async () => {
  await fixture.queues.put(DLQ, {})
  await subscribe('a', { deliveryPolicy: RETRY_AT_ONCE, redrivePolicy: { deadLetterTargetArn: DLQ } })
  sender.answer = () => 503
  await fixture.startWorker(sender)
  await fixture.publish('hello')
  await waitFor(async () => (await fixture.queues.getWithCounts(DLQ))?.counts.visible === 1)
  const [letter] = await fixture.queues.receive(DLQ, { maxMessages: 1 })
  const bodies = sentTo('a').map(({ body }) => body)
  expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]])
  // Only the subscriber may unsubscribe without a key, so the letter's link has no token.
  expect(letter?.body).toBe(withoutToken(bodies[0]))
  expect(letter?.body).not.toContain('&Token=')
  expect(await verifies(envelopesTo('a')[2])).toBe(true)
})

test('a delivery that dies unattempted is signed for its dead-letter queue', async () => {
  await fixture.queues.put(DLQ, {})
  await fixture.topics.put(TOPIC, { retentionSeconds: 60 })
  await subscribe('a', { status: 'paused', redrivePolicy: { deadLetterTargetArn: DLQ } })
  const message = { messageId: createMessageId(Date.now() - 61_000), topicArn: TOPIC, message: 'old' }
  const published = [{ ...message, publishedAt: Date.now() - 61_000 }]
  const { id } = (await fixture.subscriptions.list({ limit: 1 })).items[0] ?? { id: '' }
  await fixture.subscriptions.update(id, () => ({ status: 'active' }))
  await fixture.startWorker(sender)
  await fixture.publisher.publish(published, { bytes: 300, fanOut: 1 })
  await waitFor(async () => (await fixture.queues.getWithCounts(DLQ))?.counts.visible === 1)
  const [letter] = await fixture.queues.receive(DLQ, { maxMessages: 1 })
  expect([await verifies(JSON.parse(letter?.body ?? '{}')), sender.sent.length]).toEqual([true, 0])
})

test('[67] a throttled subscription gets version 2 as soon as the topic says so', async () => {
  await subscribe('a', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } })
  await fixture.startWorker(sender)
  await fixture.publish('one')
  await waitFor(() => sentTo('a').length === 1)
  await fixture.topics.put(TOPIC, { attributes: { SignatureVersion: '2' } })
  await fixture.publish('two')
  await waitFor(() => sentTo('a').length === 2)
  const envelopes = envelopesTo('a')
  expect(envelopes.map(({ SignatureVersion }) => SignatureVersion)).toEqual(['1', '2'])
  expect(await Promise.all(envelopes.map(verifies))).toEqual([true, true])
})

test('[69] confirmations go out signed', async () => {
  const { id } = await subscribe('a', { rawMessageDelivery: true, confirmation: 'handshake' })
  const publishedAt = Date.now()
  const messageId = createMessageId(publishedAt)
  const message: Message = {
    messageId,
    topicArn: TOPIC,
    publishedAt,
    message: '',
    kind: 'SubscriptionConfirmation',
    token: 'ab12',
  }
  const park = { as: 'fresh' as const }
  await fixture.lanes.park(placeOfSubscription(id)?.shard ?? -1, {
    messages: [{ id: deliveryId(messageId), body: messageBody(message) }],
    jobs: [
      {
        jobName: '',
        fence: 0,
        fields: [],
        entries: [{ subscriptionId: id, delivery: deliveryId(messageId), message: 0, park }],
      },
    ],
  })
  await fixture.startWorker(sender)
  await waitFor(() => sentTo('a').length === 1)
  expect([await verifies(envelopesTo('a')[0]), envelopesTo('a')[0]?.Token]).toEqual([true, 'ab12'])
})

test('while the key is damaged signed topics wait as misconfigured, others go on, and nothing spins', async () => {
  const other = 'arn:aws:sns:us-east-1:000000000000:plain'
  await fixture.topics.put(other, {})
  await fixture.subscribe('other', { topicArn: other })
  const { id } = await subscribe('a')
  await subscribe('b', { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 50 } } })
  await new SigningKeys(fixture.redis).offer(await createSigningPair())
  const intact = (await fixture.redis.get(signingPairKey())) ?? ''
  // A changed exponent still makes signatures that nobody can verify.
  const place = intact.indexOf('PRIVATE KEY-----') + 1_200
  await fixture.redis.setrange(signingPairKey(), place, intact[place] === 'A' ? 'B' : 'A')
  await fixture.startWorker(sender, { credentialProbeMs: 300 })
  const ids = await fixture.publishAll(Array.from({ length: 30 }, (_, i) => `m${i}`))
  await waitFor(async () => (await Promise.all(ids.map((id) => waitingOf(id)))).every((n) => n === 2))
  await fixture.publish('unsigned', { topicArn: other })
  await waitFor(() => sentTo('other').length === 1)
  const lane = laneKey(shardBase(placeOfSubscription(id)?.shard ?? -1), id)
  await waitFor(async () => (await fixture.redis.hget(lane, 'mx')) === 'signing key')
  const [startedAt, before] = [performance.now(), await scriptsRun()]
  await waitFor(async () => (await scriptsRun()) > before + 20)
  const perSecond = 20_000 / (performance.now() - startedAt)
  expect(perSecond).toBeLessThan(100)
  expect(sentTo('a').concat(sentTo('b'))).toEqual([])
  await fixture.redis.set(signingPairKey(), intact)
  await waitFor(() => sentTo('a').length === 30 && sentTo('b').length === 30, { timeoutMs: 15_000 })
  const envelopes = [...envelopesTo('a'), ...envelopesTo('b')]
  expect((await Promise.all(envelopes.map(verifies))).every(Boolean)).toBe(true)
  expect(await new Credentials(fixture.redis).ask('signing key')).toBe('works')
})

async function waitingOf(messageId: string): Promise<number> {
  return (await fixture.outcomes.message(messageId))?.counts.waiting ?? 0
}

async function scriptsRun(): Promise<number> {
  const info = await fixture.redis.info('commandstats')
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1])
}
