/** Delivery of messages from topics to webhooks, and the answers that end it, compared with SNS. */
import { PublishBatchCommand } from '@aws-sdk/client-sns'
import { createSelfSigned, startReceiver, steadyNow, waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { topicArn, useAwsClients } from '../harness/aws/aws-clients.ts'
import { atOnce, awsWebhooks, deadLetters, retrying } from '../harness/aws/aws-webhooks.ts'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { lane, notification, subscribe } from '../harness/receivers/webhooks.ts'
import { type Stalls, watchStalls } from '../harness/runs/stalls.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ env: { FANTAIL_RETRY_JITTER: '0' } })
const receiver = useReceiver()
const aws = useAwsClients(stack)
const webhooks = awsWebhooks({ stack, aws, receiver })

const DELIVERED = [200, 201, 202, 204]
const RETRIED = [429, 500, 502, 503, 504, 599]
const PERMANENT = [301, 302, 400, 401, 403, 404, 410, 422]
/** An earlier attempt would break the rule. A later one only shows that the machine is busy. */
const EARLY_MS = 20
const LATE_MS = 1_500

/** Checks the gaps between attempts at a path. Stalls of the machine between two attempts do not count as delay. */
function expectGaps(path: string, nominalMs: number[], stalls: Stalls): void {
  const times = webhooks.sent(path).map(({ at }) => at)
  expect(times).toHaveLength(nominalMs.length + 1)
  nominalMs.forEach((nominal, i) => {
    const [from, to] = [times[i] ?? 0, times[i + 1] ?? 0]
    expect(to - from).toBeGreaterThanOrEqual(nominal - EARLY_MS)
    expect(to - from - stalls.between(from, to)).toBeLessThanOrEqual(nominal + LATE_MS)
  })
}

test('[32][33][34][35][36][39] the status decides: delivered, tried again under the same id, or given up at once', async () => {
  await webhooks.createTopic('statuses')
  await aws().createQueue('statuses-dead')
  const all = [...DELIVERED, ...RETRIED, ...PERMANENT]
  for (const status of all) {
    const attributes = { ...atOnce(2), ...deadLetters('statuses-dead') }
    await webhooks.subscribe('statuses', `/status/${status}`, attributes)
    webhooks.respond(`/status/${status}`, { status, headers: { location: `${receiver().url}/elsewhere` } })
  }
  const messageId = await webhooks.publish('statuses', 'x')
  const deliveries = await webhooks.ended(messageId, all.length)
  const ends = new Map(deliveries.map(({ lastStatusCode, ...end }) => [lastStatusCode, end]))
  for (const status of all) {
    const state = DELIVERED.includes(status) ? 'delivered' : 'deadLettered'
    const attempts = RETRIED.includes(status) ? 3 : 1
    const ids = webhooks.sent(`/status/${status}`).map((sent) => sent.messageId)
    expect([status, ids]).toEqual([status, Array(attempts).fill(messageId)])
    if (state === 'deadLettered') expect(ends.get(status)).toMatchObject({ state, attempts })
  }
  expect(deliveries.filter(({ state }) => state === 'delivered')).toHaveLength(DELIVERED.length)
  expect(receiver().requestsTo('/elsewhere')).toEqual([])
})

test('[22][24] without retries there is one attempt, also where the topic allows no other policy', async () => {
  const http = {
    defaultHealthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 0 },
    disableSubscriptionOverrides: true,
  }
  await webhooks.createTopic('strict', { DeliveryPolicy: JSON.stringify({ http }) })
  await webhooks.createTopic('free')
  await webhooks.subscribe('strict', '/strict', atOnce(5))
  await webhooks.subscribe('free', '/none', retrying(0))
  await webhooks.subscribe('free', '/five', atOnce(5))
  for (const path of ['/strict', '/none', '/five']) webhooks.respond(path, { status: 500 })
  await webhooks.ended(await webhooks.publish('strict', 'x'), 1)
  await webhooks.ended(await webhooks.publish('free', 'x'), 2)
  expect(['/strict', '/none', '/five'].map((path) => webhooks.sent(path).length)).toEqual([1, 1, 6])
})

test('[26][31][38] an attempt ends after 15 s at the latest, and delays count from its end', async () => {
  const stalls = watchStalls([stack().redis.pid(), stack().worker(0).pid])
  await webhooks.createTopic('slow')
  await webhooks.subscribe('slow', '/hung', retrying(1))
  await webhooks.subscribe('slow', '/slow', retrying(3, { numNoDelayRetries: 2 }))
  webhooks.respond('/hung', (_, n) => (n === 1 ? { hang: 'beforeHeaders' } : {}))
  webhooks.respond('/slow', { status: 503, delayMs: 700 })
  await webhooks.publish('slow', 'x')
  await webhooks.waitForSent('/slow', 4)
  expectGaps('/slow', [700, 700, 1_700], stalls)
  await webhooks.waitForSent('/hung', 2, 20_000)
  expectGaps('/hung', [16_000], stalls)
})

test('[37] an endpoint that cannot be reached, found or trusted is tried again', async () => {
  await webhooks.createTopic('away')
  const untrusted = await startReceiver({ tls: createSelfSigned(['127.0.0.1']) })
  const closed = await startReceiver()
  await closed.close()
  const deliveryPolicy = {
    healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 1, numNoDelayRetries: 1 },
  }
  const endpoints = [closed.url, 'http://does-not-exist.invalid/', untrusted.url]
  for (const endpoint of endpoints) await subscribe(stack(), 'away', { endpoint, deliveryPolicy })
  const deliveries = await webhooks.ended(await webhooks.publish('away', 'x'), endpoints.length)
  await untrusted.close()
  expect(deliveries.map(({ attempts }) => attempts)).toEqual([2, 2, 2])
  expect(untrusted.requests).toEqual([])
})

test('[37] an endpoint that comes back gets what it missed', async () => {
  await webhooks.createTopic('returning')
  const first = await startReceiver()
  const others = awsWebhooks({ stack, aws, receiver: () => first })
  const arn = await others.subscribe('returning', '/in', retrying(30))
  await first.close()
  const messageId = await webhooks.publish('returning', 'x')
  const id = arn.slice(arn.lastIndexOf(':') + 1)
  await waitFor(async () => (await lane(stack(), { id })).lastFailure?.error === 'connection_refused')
  const second = await startReceiver({ port: first.port })
  try {
    expect((await second.waitForRequests(1, '/in'))[0]?.messageId).toBe(messageId)
  } finally {
    await second.close()
  }
})

test('[40][42][43][44][47][48][50] a notification has these headers and keys, and no others', async () => {
  await webhooks.createTopic('plain')
  const arn = await webhooks.subscribe('plain', '/plain')
  await webhooks.subscribe('plain', '/policy', {
    DeliveryPolicy: '{"requestPolicy":{"headerContentType":"application/json"}}',
  })
  const messageId = await webhooks.publish('plain', 'é')
  const [sent] = await webhooks.waitForSent('/plain', 1)
  const [json] = await webhooks.waitForSent('/policy', 1)
  if (!sent) throw new Error('it was sent')
  expect(sent.headers).toEqual({
    'x-amz-sns-message-type': 'Notification',
    'x-amz-sns-message-id': messageId,
    'x-amz-sns-topic-arn': topicArn('plain'),
    'x-amz-sns-subscription-arn': arn,
    'content-type': 'text/plain; charset=UTF-8',
    'user-agent': 'Amazon Simple Notification Service Agent',
    'accept-encoding': 'gzip,deflate',
    'content-length': String(sent.body.length),
    connection: expect.stringMatching(/^keep-alive$/i),
    host: new URL(receiver().url).host,
  })
  expect(json?.headers['content-type']).toBe('application/json')
  const { Timestamp, ...envelope } = notification(sent)
  expect(Object.keys(envelope)).toEqual([
    'Type',
    'MessageId',
    'TopicArn',
    'Message',
    'SignatureVersion',
    'Signature',
    'SigningCertURL',
    'UnsubscribeURL',
  ])
  expect(Timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const asked = receiver().requestsTo('/policy')[0]
  expect(asked?.headers).toMatchObject({
    'x-amz-sns-message-type': 'SubscriptionConfirmation',
    'content-type': 'text/plain; charset=UTF-8',
    'user-agent': 'Amazon Simple Notification Service Agent',
  })
})

test('[51] credentials of the URL go out when they are asked for', async () => {
  await webhooks.createTopic('guarded')
  const authorization = `Basic ${Buffer.from('user:secret').toString('base64')}`
  receiver().respond('/guarded', ({ headers }) =>
    headers.authorization === authorization
      ? {}
      : { status: 401, headers: { 'www-authenticate': 'Basic realm="hooks"' } },
  )
  const endpoint = `${receiver().url.replace('//', '//user:secret@')}/guarded`
  await aws().subscribe('guarded', { protocol: 'http', endpoint })
  const [first, second] = await receiver().waitForRequests(2, '/guarded')
  expect([first?.headers.authorization, first?.answered]).toEqual([undefined, 401])
  expect([second?.headers.authorization, second?.text]).toEqual([authorization, first?.text])
})

test('[53] an endpoint that does not answer delays no other', async () => {
  await webhooks.createTopic('shared')
  await webhooks.subscribe('shared', '/stuck')
  await webhooks.subscribe('shared', '/prompt')
  const { promise, resolve } = Promise.withResolvers<void>()
  webhooks.respond('/stuck', { until: promise })
  for (let n = 0; n < 50; n++) await webhooks.publish('shared', `${n}`)
  await webhooks.waitForSent('/prompt', 50)
  expect(webhooks.sent('/stuck').filter(({ answered }) => answered !== null)).toEqual([])
  resolve()
  await webhooks.waitForSent('/stuck', 50)
})

test('[54] maxReceivesPerSecond bounds the rate of one subscription', async () => {
  const [rate, messages] = [10, 40]
  await webhooks.createTopic('throttled')
  const DeliveryPolicy = JSON.stringify({ throttlePolicy: { maxReceivesPerSecond: rate } })
  await webhooks.subscribe('throttled', '/throttled', { DeliveryPolicy })
  await webhooks.subscribe('throttled', '/unthrottled')
  const publishedAt = steadyNow()
  for (let n = 0; n < messages; n += 10) {
    const entries = Array.from({ length: 10 }, (_, i) => ({ Id: `${i}`, Message: `${n + i}` }))
    const batch = { TopicArn: topicArn('throttled'), PublishBatchRequestEntries: entries }
    await aws().sns.send(new PublishBatchCommand(batch))
  }
  await webhooks.waitForSent('/unthrottled', messages)
  expect(webhooks.sent('/throttled').length).toBeLessThan(messages)
  const times = (await webhooks.waitForSent('/throttled', messages)).map(({ at }) => at)
  const seconds = (Math.max(...times) - publishedAt) / 1_000
  expect((messages - 1) / seconds).toBeLessThanOrEqual(1.1 * rate)
})
