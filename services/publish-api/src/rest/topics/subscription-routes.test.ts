import { CONFIRMATION_SECONDS, SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import { deliveryId, placeOfSubscription, shardBase, subscriptionsKey } from '@fantail/store'
import { startFairTimer } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi, waitingIn } from '../../fixtures/test-api.fixture.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:letters'
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
  await api.call('PUT', '/v1/queues/letters')
})

afterAll(() => api.stop())

const subscribe = (body: object, topic = 'orders') =>
  api.call('POST', `/v1/topics/${topic}/subscriptions`, { body })

test('a webhook is active at once, under the defaults', async () => {
  const { status, body } = await subscribe({ endpoint: 'https://example.com/hook' })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    arn: `arn:aws:sns:us-east-1:000000000000:orders:${body.id}`,
    protocol: 'https',
    status: 'active',
    rawMessageDelivery: false,
    redrivePolicy: {},
    onFailure: 'after 4 attempts in 1 min to orders-dead-letters; at once if refused permanently',
    maxInFlight: 32,
    confirmation: 'none',
    lane: { waiting: 0, inFlight: 0, drainSeconds: 0, rate: null, lastFailure: null, lastSuccessAt: null },
  })
  const topic = await api.call('GET', '/v1/topics/orders')
  expect(topic.body.subscriptions.active).toBe(1)
})

test('a subscription behaves as one of SNS if its origin is aws, and may begin paused', async () => {
  const endpoint = 'https://example.com/moved'
  const role = { SubscriptionRoleArn: 'arn:aws:iam::000000000000:role/r' }
  const given = { endpoint, origin: 'aws', status: 'paused', attributes: role }
  const { status, body } = await subscribe(given)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    ...{ origin: 'aws', status: 'paused', redrivePolicy: null, onGone: 'deadLetter', attributes: role },
    effectiveDeliveryPolicy: { requestPolicy: { headerContentType: 'text/plain; charset=UTF-8' } },
  })
  expect((await subscribe({ endpoint, status: 'paused' })).status).toBe(200)
  expect((await subscribe({ endpoint, origin: 'native' })).status).toBe(409)
  for (const wrong of [{ confirmation: 'handshake' }, { attributes: { Other: 'x' } }, { origin: 'sns' }])
    expect((await subscribe({ endpoint: `${endpoint}/2`, status: 'paused', ...wrong })).status).toBe(400)
  const changed = await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: { origin: 'native' } })
  expect(changed.body.error.details).toEqual([{ path: 'origin', message: 'cannot be changed' }])
})

test('endpoints are checked without being subscribed', async () => {
  const endpoints = [
    { endpoint: 'https://example.com/x' },
    { endpoint: 'ops@example.com', protocol: 'email' },
    { endpoint: 'arn:aws:sns:us-east-1:000000000000:endpoint/GCM/a/0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012' },
    { endpoint: 'nonsense' },
  ]
  const { status, body } = await api.call('POST', '/v1/endpoints/check', { body: { endpoints } })
  expect([status, body.problems.length]).toEqual([200, 4])
  expect(body.problems[0]).toBe(null)
  expect(body.problems[1]).toContain('FANTAIL_SMTP_URL')
  expect(body.problems[2]).toContain('names no platform endpoint')
  expect(body.problems[3]).toContain('endpoint must be')
})

test('an answer shows the policy in force and the lane’s drain time', async () => {
  await api.call('PUT', '/v1/topics/slow', {
    body: { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 4 } } },
  })
  const { body } = await subscribe({ endpoint: 'https://example.com/slow' }, 'slow')
  const { shard } = placeOfSubscription(body.id) ?? { shard: -1 }
  const messageId = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
  const entry = {
    subscriptionId: body.id,
    delivery: deliveryId(messageId),
    message: 0,
    park: { as: 'fresh' as const },
  }
  await api.deps.lanes.park(shard, {
    messages: [{ id: deliveryId(messageId), body: '{}' }],
    jobs: [{ jobName: '', fence: 0, fields: [], entries: [entry] }],
  })
  const read = await api.call('GET', `/v1/subscriptions/${body.arn}`)
  expect(read.body.effectiveDeliveryPolicy.throttlePolicy).toEqual({ maxReceivesPerSecond: 4 })
  expect(read.body.lane).toMatchObject({ waiting: 1, rate: 4, drainSeconds: 0.25, drainUnknown: null })
  expect(read.body.lane.oldestWaitingSeconds).toBeGreaterThan(0)
})

test('the content type in force is that of the envelope, or null where each raw body has its own', async () => {
  const contentType = async (settings: object) => {
    const endpoint = `https://example.com/types/${JSON.stringify(settings)}`
    const { body } = await subscribe({ endpoint: encodeURI(endpoint), ...settings })
    return body.effectiveDeliveryPolicy.requestPolicy.headerContentType
  }
  expect(await contentType({})).toBe('application/json')
  expect(await contentType({ rawMessageDelivery: true })).toBeNull()
  const deliveryPolicy = { requestPolicy: { headerContentType: 'text/csv' } }
  expect(await contentType({ rawMessageDelivery: true, deliveryPolicy })).toBe('text/csv')
})

test('the same endpoint again answers the one that exists, or a conflict where settings differ', async () => {
  const endpoint = 'https://example.com/again'
  const first = await subscribe({
    endpoint,
    maxInFlight: 5,
    redrivePolicy: { deadLetterTargetArn: 'letters', createQueue: true },
  })
  const same = await subscribe({
    endpoint,
    redrivePolicy: { deadLetterTargetArn: QUEUE },
    rawMessageDelivery: null,
  })
  expect([same.status, same.body.id]).toEqual([200, first.body.id])
  for (const other of [
    { maxInFlight: 6 },
    { rawMessageDelivery: true },
    { redrivePolicy: null },
    { confirmation: 'handshake' },
  ]) {
    const { status, body } = await subscribe({ endpoint, ...other })
    expect([status, body.error.code]).toEqual([409, 'subscription_exists'])
  }
  expect((await subscribe({ endpoint: `${endpoint}/` })).status).toBe(201)
})

test('the subscriptions of a topic are listed below it, of a topic that is not there none', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/listed' })
  const path = `/v1/topics/${body.topicArn.split(':').at(-1)}/subscriptions`
  const ids = async (query: string) =>
    (await api.call('GET', `${path}?${query}`)).body.subscriptions.map(({ id }: { id: string }) => id)
  expect(await ids('limit=100')).toContain(body.id)
  expect(await ids('endpoint=https://example.com/listed')).toEqual([body.id])
  expect((await api.call('GET', `${path}?topic=other`)).body.error.code).toBe('validation_failed')
  expect((await api.call('GET', '/v1/topics/nobody/subscriptions')).body.error.code).toBe('not_found')
})

test('a queue is subscribed by ARN, or by name with its protocol, also before it exists', async () => {
  const named = await subscribe({ endpoint: 'not-yet', protocol: 'sqs' })
  expect(named.body).toMatchObject({
    protocol: 'sqs',
    endpoint: 'arn:aws:sqs:us-east-1:000000000000:not-yet',
  })
  expect((await subscribe({ endpoint: QUEUE })).body.protocol).toBe('sqs')
  const policy = await subscribe({
    endpoint: `${QUEUE}-2`,
    deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 1 } },
  })
  expect(policy.body.error.details).toMatchObject([{ path: 'deliveryPolicy' }])
})

test('PATCH sets what it is given; a policy must fit the delivery it is for', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/patch' })
  const path = `/v1/subscriptions/${body.id}`
  const raw = {
    rawMessageDelivery: true,
    deliveryPolicy: { requestPolicy: { headerContentType: 'text/csv' } },
  }
  expect((await api.call('PATCH', path, { body: { deliveryPolicy: raw.deliveryPolicy } })).status).toBe(400)
  expect((await api.call('PATCH', path, { body: raw })).body).toMatchObject(raw)
  const back = await api.call('PATCH', path, { body: { rawMessageDelivery: false } })
  expect(back.body.error.details).toMatchObject([{ path: 'deliveryPolicy.requestPolicy.headerContentType' }])
  const reset = await api.call('PATCH', path, {
    body: { rawMessageDelivery: null, deliveryPolicy: null, maxInFlight: null },
  })
  expect(reset.body).toMatchObject({ rawMessageDelivery: false, deliveryPolicy: null, maxInFlight: 32 })
})

test('protocol and confirmation cannot change', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/fixed' })
  const answer = await api.call('PATCH', `/v1/subscriptions/${body.id}`, {
    body: { confirmation: 'none', protocol: 'http', maxInFlight: 0 },
  })
  expect(answer.status).toBe(400)
  expect(answer.body.error.details).toMatchObject([
    { path: 'protocol', message: 'cannot be changed' },
    { path: 'confirmation', message: 'cannot be changed' },
    { path: 'maxInFlight' },
  ])
})

test('a dead-letter queue knows its subscriptions for as long as they name it', async () => {
  await api.call('PUT', '/v1/queues/dlq-a')
  await api.call('PUT', '/v1/queues/dlq-b')
  const sources = async (queue: string) =>
    (await api.call('GET', `/v1/queues/${queue}`)).body.deadLetterSources
  await api.call('PUT', '/v1/topics/sources')
  const one = await subscribe(
    { endpoint: 'https://example.com/1', redrivePolicy: { deadLetterTargetArn: 'dlq-a', createQueue: true } },
    'sources',
  )
  const two = await subscribe(
    { endpoint: 'https://example.com/2', redrivePolicy: { deadLetterTargetArn: 'dlq-a' } },
    'sources',
  )
  expect((await sources('dlq-a')).sort()).toEqual([one.body.arn, two.body.arn].sort())
  await api.call('PATCH', `/v1/subscriptions/${one.body.id}`, {
    body: { redrivePolicy: { deadLetterTargetArn: 'dlq-b', createQueue: true } },
  })
  expect([await sources('dlq-a'), await sources('dlq-b')]).toEqual([[two.body.arn], [one.body.arn]])
  await api.call('DELETE', `/v1/subscriptions/${two.body.id}`)
  await api.call('DELETE', '/v1/topics/sources')
  expect([await sources('dlq-a'), await sources('dlq-b')]).toEqual([[], []])
})

test('failed deliveries go to the queue of their topic by default, and vanish only if null says so', async () => {
  const endpoint = 'https://example.com/fails'
  const { body } = await subscribe({ endpoint })
  expect(body).toMatchObject({
    redrivePolicy: {},
    onFailure: expect.stringMatching(/ to orders-dead-letters; at once/),
  })
  const patch = async (set: object) =>
    (await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: set })).body
  expect(await patch({ redrivePolicy: null })).toMatchObject({
    redrivePolicy: null,
    onFailure: 'after 4 attempts in 1 min discarded; at once if refused permanently',
  })
  const named = { deadLetterTargetArn: 'named', createQueue: true }
  expect(await patch({ redrivePolicy: named })).toMatchObject({
    onFailure: 'after 4 attempts in 1 min to named; at once if refused permanently',
  })
  expect(await patch({ redrivePolicy: {} })).toMatchObject({ redrivePolicy: {}, onFailure: body.onFailure })
  // A repeated request agrees with the subscription that it made. A different one does not.
  const statusOf = async (set: object) => (await subscribe({ endpoint, ...set })).status
  expect([await statusOf({}), await statusOf({ redrivePolicy: {} })]).toEqual([200, 200])
  expect([await statusOf({ redrivePolicy: null }), await statusOf({ redrivePolicy: named })]).toEqual([
    409, 409,
  ])
  const wrong = await patch({ redrivePolicy: { createQueue: true } })
  expect(wrong.error.details[0].path).toBe('redrivePolicy.createQueue')
})

test('a queue that somebody else made is not the topic’s, and the answer names the one that will be', async () => {
  await api.call('PUT', '/v1/topics/taken')
  await api.call('PUT', '/v1/queues/taken-dead-letters')
  const { body } = await subscribe({ endpoint: 'https://example.com/taken' }, 'taken')
  expect(body.onFailure).toMatch(/ to taken-dead-letters-[0-9a-f]{8}; at once/)
})

test('a dead-letter queue that does not exist is refused, unless the request has it made', async () => {
  const endpoint = 'https://example.com/no-queue'
  const named = { deadLetterTargetArn: 'not-there' }
  const refusal = {
    path: 'redrivePolicy.deadLetterTargetArn',
    message: expect.stringContaining('names a queue that does not exist'),
  }
  const refused = await subscribe({ endpoint, redrivePolicy: named })
  expect([refused.status, refused.body.error.details]).toEqual([400, [refusal]])
  expect((await api.call('GET', '/v1/queues/not-there')).status).toBe(404)
  expect((await subscribe({ endpoint, redrivePolicy: { ...named, createQueue: true } })).status).toBe(201)
  const queue = await api.call('GET', '/v1/queues/not-there')
  expect(queue.body).toMatchObject({ retentionSeconds: 1_209_600, deadLetterSources: [expect.anything()] })

  const { body } = await subscribe({ endpoint: `${endpoint}/changed` })
  const patch = (redrivePolicy: object) =>
    api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: { redrivePolicy } })
  const other = { deadLetterTargetArn: 'not-there-either' }
  expect((await patch(other)).body.error.details).toEqual([refusal])
  expect((await patch({ ...other, createQueue: true })).body.redrivePolicy.deadLetterTargetArn).toMatch(
    /either$/,
  )
  await api.call('DELETE', '/v1/queues/not-there-either')
  // A member that stays as it is need not be given again.
  const renamed = await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: { maxInFlight: 3 } })
  expect(renamed.status).toBe(200)
})

test('lists can be narrowed by topic, endpoint and status', async () => {
  await api.call('PUT', '/v1/topics/narrow')
  const paused = await subscribe({ endpoint: 'https://example.com/n1' }, 'narrow')
  await subscribe({ endpoint: 'https://example.com/n2' }, 'narrow')
  await api.call('POST', `/v1/subscriptions/${paused.body.id}/pause`)
  const endpoints = async (query: string) => {
    const { body } = await api.call('GET', `/v1/subscriptions?${query}`)
    return body.subscriptions.map(({ endpoint }: { endpoint: string }) => endpoint).sort()
  }
  expect(await endpoints('topic=narrow')).toEqual(['https://example.com/n1', 'https://example.com/n2'])
  expect(await endpoints('topic=narrow&status=paused')).toEqual(['https://example.com/n1'])
  expect(await endpoints('endpoint=https%3A%2F%2Fexample.com%2Fn2')).toEqual(['https://example.com/n2'])
})

test('DELETE answers 204 twice', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/gone' })
  for (let i = 0; i < 2; i++)
    expect((await api.call('DELETE', `/v1/subscriptions/${body.id}`)).status).toBe(204)
  expect((await api.call('GET', `/v1/subscriptions/${body.id}`)).status).toBe(404)
})

test('DELETE removes a subscription whose record cannot be read', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/damaged' })
  const { shard = 0, sliceId = '' } = placeOfSubscription(body.id) ?? {}
  await api.redis.hset(subscriptionsKey(shardBase(shard), sliceId), body.id, '{"e":1}')
  const path = `/v1/subscriptions/${body.id}`
  expect((await api.call('DELETE', path)).status).toBe(204)
  expect((await api.call('GET', path)).status).toBe(404)
})

test('a handshake is pending for 48 hours and its token waits in the lane', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/handshake', confirmation: 'handshake' })
  expect(body.status).toBe('pending')
  expect(Date.parse(body.confirmationExpiresAt) - Date.parse(body.createdAt)).toBeGreaterThan(
    (CONFIRMATION_SECONDS - 60) * 1_000,
  )
  const [message] = await waitingIn(api, body.id)
  expect(message).toMatchObject({
    kind: 'SubscriptionConfirmation',
    token: expect.stringMatching(/^[0-9a-f]{288}$/),
    publicUrl: 'http://localhost',
  })
  expect(JSON.stringify(body)).not.toContain(message?.token)
  const path = `/v1/subscriptions/${body.id}`
  for (const action of ['pause', 'resume']) {
    expect((await api.call('POST', `${path}/${action}`)).body.error.code).toBe('wrong_state')
  }
  const wrong = await api.call('POST', `${path}/confirm`, { body: { token: 'ab'.repeat(144) } })
  expect(wrong.body.error.details).toMatchObject([{ path: 'token' }])
  for (let i = 0; i < 2; i++) {
    const { status, body: confirmed } = await api.call('POST', `${path}/confirm`, {
      body: { token: message?.token },
    })
    expect([status, confirmed.status, confirmed.confirmationExpiresAt]).toEqual([200, 'active', null])
  }
})

test('asking again replaces the token; subscribing again asks again', async () => {
  const endpoint = 'https://example.com/ask'
  const { body } = await subscribe({ endpoint, confirmation: 'handshake' })
  const [first] = await waitingIn(api, body.id)
  const path = `/v1/subscriptions/${body.id}`
  expect((await api.call('POST', `${path}/send-confirmation`)).status).toBe(200)
  const [second] = await waitingIn(api, body.id)
  expect((await subscribe({ endpoint, confirmation: 'handshake' })).status).toBe(200)
  const [third] = await waitingIn(api, body.id)
  const tokens = [first?.token, second?.token, third?.token]
  expect(new Set(tokens).size).toBe(3)
  const answers = await Promise.all(
    tokens.map((token) => api.call('POST', `${path}/confirm`, { body: { token } })),
  )
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 200])
  expect((await api.call('POST', `${path}/send-confirmation`)).body.error.code).toBe('wrong_state')
})

test('pause and resume can be repeated', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/pause' })
  const statuses: string[] = []
  for (const action of ['pause', 'pause', 'resume', 'resume']) {
    statuses.push((await api.call('POST', `/v1/subscriptions/${body.id}/${action}`)).body.status)
  }
  expect(statuses).toEqual(['paused', 'paused', 'active', 'active'])
})

test('waiting deliveries can be made due now or discarded', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/wait' })
  const { shard } = placeOfSubscription(body.id) ?? { shard: -1 }
  const ids = ['01a1fbe2-80fa-72ab-bc08-d682f311b525', '01a1fbe2-80fa-72ab-bc08-d682f311b526']
  const state = { kind: 'retry' as const, attempts: 1, statusCode: 503, error: null }
  await api.deps.lanes.park(shard, {
    messages: ids.map((id) => ({ id: deliveryId(id), body: '{}' })),
    jobs: [
      {
        jobName: '',
        fence: 0,
        fields: [],
        entries: ids.map((id, message) => ({
          subscriptionId: body.id,
          delivery: deliveryId(id),
          message,
          park: { as: 'retry', delayMs: 60_000, state },
        })),
      },
    ],
  })
  const path = `/v1/subscriptions/${body.id}`
  expect((await api.call('POST', `${path}/retry`, { body: { maxPerSecond: 100 } })).body).toEqual({
    moved: 2,
  })
  expect((await api.call('POST', `${path}/purge`)).body).toEqual({ discarded: 2 })
  expect((await api.call('GET', path)).body.lane.waiting).toBe(0)
})

test('/test makes one attempt and returns its result', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/test', rawMessageDelivery: true })
  const path = `/v1/subscriptions/${body.id}/test`
  expect((await api.call('POST', path)).body).toMatchObject({ statusCode: 204, durationMs: 3 })
  expect(api.attempts.at(-1)).toMatchObject({
    url: 'https://example.com/test',
    body: expect.stringContaining('test'),
  })
  // A verifier of Standard Webhooks parses the verified body, so it must be JSON.
  expect(JSON.parse(api.attempts.at(-1)?.body ?? '')).toMatchObject({ type: 'fantail.test' })
  const own = { message: { type: 'invoice.paid', data: { id: 'in_1' } } }
  expect((await api.call('POST', path, { body: own })).body.statusCode).toBe(204)
  expect(JSON.parse(api.attempts.at(-1)?.body ?? '')).toEqual(own.message)
  await api.call('POST', path, { body: { message: 'as it is' } })
  expect(api.attempts.at(-1)?.body).toBe('as it is')
  const wrong = await api.call('POST', path, { body: { message: 42, attributes: { a: null } } })
  expect([wrong.status, wrong.body.error.details.map(({ path: at }: { path: string }) => at)]).toEqual([
    400,
    ['message', 'attributes.a'],
  ])
  api.attemptResult = {
    kind: 'failure',
    error: 'timeout',
    detail: 'no answer',
    durationMs: 15_000,
    permanent: false,
  }
  expect((await api.call('POST', path)).body).toMatchObject({
    statusCode: null,
    durationMs: 15_000,
    error: 'timeout: no answer',
  })
  const queue = await subscribe({ endpoint: 'test-queue', protocol: 'sqs' })
  const missing = await api.call('POST', `/v1/subscriptions/${queue.body.id}/test`)
  expect(missing.body).toMatchObject({ statusCode: null, error: expect.stringContaining('queue_missing') })
  await api.call('PUT', '/v1/queues/test-queue')
  expect((await api.call('POST', `/v1/subscriptions/${queue.body.id}/test`)).body.statusCode).toBe(200)
})

test('/test takes subject and attributes of an own message, which the envelope shows', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/test-envelope' })
  const given = { message: 'x', subject: 'Hi', attributes: { color: 'red', n: 3 } }
  await api.call('POST', `/v1/subscriptions/${body.id}/test`, { body: given })
  expect(JSON.parse(api.attempts.at(-1)?.body ?? '')).toMatchObject({
    Type: 'Notification',
    Message: 'x',
    Subject: 'Hi',
    MessageAttributes: { color: { Type: 'String', Value: 'red' }, n: { Type: 'Number', Value: '3' } },
  })
})

test('/test is refused by what a delivery to the queue would be refused by', async () => {
  const queue = 'arn:aws:sqs:us-east-1:000000000000:guarded'
  await api.deps.queues.put(queue, {})
  const { body } = await subscribe({ endpoint: 'guarded', protocol: 'sqs' })
  const attempt = async () => (await api.call('POST', `/v1/subscriptions/${body.id}/test`)).body
  expect((await attempt()).statusCode).toBe(200)
  const deny = { Effect: 'Deny', Principal: '*', Action: 'sqs:SendMessage', Resource: queue }
  await api.deps.queues.put(queue, { attributes: { Policy: JSON.stringify({ Statement: [deny] }) } })
  const denied = 'queue_refused: the queue’s policy does not let the topic send'
  expect(await attempt()).toMatchObject({ statusCode: null, error: denied })
  await api.deps.queues.put(queue, { attributes: {}, maximumMessageBytes: 10 })
  const long = 'queue_refused: the queue takes at most 10 bytes'
  expect(await attempt()).toMatchObject({ statusCode: null, error: long })
  expect((await api.deps.queues.receive(queue, { maxMessages: 10 })).length).toBe(1)
})

test('/test puts its message into a FIFO queue too', async () => {
  await api.deps.topics.put('arn:aws:sns:us-east-1:000000000000:tried.fifo', {})
  await api.deps.queues.put('arn:aws:sqs:us-east-1:000000000000:tried.fifo', {})
  const { body } = await subscribe({ endpoint: 'tried.fifo', protocol: 'sqs' }, 'tried.fifo')
  expect((await api.call('POST', `/v1/subscriptions/${body.id}/test`)).body.statusCode).toBe(200)
})

test.each([
  'example.com/hook',
  'ftp://example.com/',
  'http://',
  'http:///path',
  'https://exa mple.com/',
  'https://under_score.example/',
  'https://example.com:0/',
  'https://example.com:99999/',
  'https://example.com/\u0000',
  'https://example.com\\@evil.example/',
  'https://sqs.us-east-1.amazonaws.com:x/',
  'arn:aws:lambda:us-east-1:000000000000:function',
  'arn:aws:sns:us-east-1:000000000000:orders',
  'letters',
  `https://example.com/${'x'.repeat(2_030)}`,
])('refuses the endpoint %s', async (endpoint) => {
  const { status, body } = await subscribe({ endpoint })
  expect([status, body.error.code]).toEqual([400, 'validation_failed'])
  expect(body.error.details).toMatchObject([{ path: 'endpoint' }])
})

test('refuses a protocol that the endpoint does not have, and takes credentials', async () => {
  const other = await subscribe({ endpoint: 'https://example.com/p', protocol: 'http' })
  expect(other.body.error.details).toMatchObject([{ path: 'protocol' }])
  expect((await subscribe({ endpoint: 'https://user:pass@example.com/p' })).status).toBe(201)
})

test('a FIFO topic takes webhooks and queues of both kinds; a standard topic takes no FIFO queue', async () => {
  await api.deps.topics.put('arn:aws:sns:us-east-1:000000000000:orders.fifo', {})
  const fifoQueue = 'arn:aws:sqs:us-east-1:000000000000:work.fifo'
  for (const endpoint of ['https://example.com/ordered', QUEUE, fifoQueue]) {
    expect((await subscribe({ endpoint }, 'orders.fifo')).status).toBe(201)
  }
  const refused = await subscribe({ endpoint: fifoQueue })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'endpoint'])
})

test('dead letters keep to the kind of queue that their subscription has', async () => {
  await api.deps.topics.put('arn:aws:sns:us-east-1:000000000000:sorted.fifo', {})
  const [standard, fifo] = ['letters', 'letters.fifo'].map((deadLetterTargetArn) => ({
    redrivePolicy: { deadLetterTargetArn, createQueue: true },
  }))
  const path = 'redrivePolicy.deadLetterTargetArn'
  const refused = async (body: object, topic: string) =>
    (await subscribe(body, topic)).body.error.details.map((problem: { path: string }) => problem.path)
  const fifoQueue = 'arn:aws:sqs:us-east-1:000000000000:sorted.fifo'
  expect(await refused({ endpoint: fifoQueue, ...standard }, 'sorted.fifo')).toEqual([path])
  expect(await refused({ endpoint: 'https://example.com/unsorted', ...fifo }, 'orders')).toEqual([path])
  const { body } = await subscribe({ endpoint: fifoQueue, ...fifo }, 'sorted.fifo')
  const patched = await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: standard })
  expect([patched.status, patched.body.error.details[0].path]).toEqual([400, path])
})

test('a filter policy is an object in and out, replaced by a change and removed by null', async () => {
  const filterPolicy = { store: ['a', { prefix: 'b' }] }
  const { body } = await subscribe({ endpoint: 'https://example.com/filtered', filterPolicy })
  expect(body).toMatchObject({ filterPolicy, filterPolicyScope: 'MessageAttributes' })
  const patch = async (change: object) =>
    (await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: change })).body
  const nested = { store: { name: ['a'] } }
  expect(await patch({ filterPolicyScope: 'MessageBody', filterPolicy: nested })).toMatchObject({
    filterPolicy: nested,
    filterPolicyScope: 'MessageBody',
  })
  expect(await patch({ filterPolicy: null, filterPolicyScope: null })).toMatchObject({
    filterPolicy: null,
    filterPolicyScope: 'MessageAttributes',
  })
  expect((await patch({ filterPolicy: {} })).filterPolicy).toBeNull()
  const endpoint = 'https://example.com/filtered'
  expect((await subscribe({ endpoint, filterPolicy: {} })).status).toBe(200)
  expect((await subscribe({ endpoint, filterPolicy })).body.error.code).toBe('subscription_exists')
})

test('a change of a filter is acknowledged when no worker matches by an older snapshot any more', async () => {
  const { body } = await subscribe({ endpoint: 'https://example.com/slowly', filterPolicy: { a: ['x'] } })
  const took = async (change: object) => {
    const from = performance.now()
    expect((await api.call('PATCH', `/v1/subscriptions/${body.id}`, { body: change })).status).toBe(200)
    return performance.now() - from
  }
  expect(await took({ filterPolicy: { a: ['y'] } })).toBeGreaterThanOrEqual(SNAPSHOT_AGE_MS_MAX)
  expect(await took({ filterPolicyScope: 'MessageBody' })).toBeGreaterThanOrEqual(SNAPSHOT_AGE_MS_MAX)
  const others = [{ filterPolicy: { a: ['y'] } }, { maxInFlight: 5 }, { rawMessageDelivery: true }]
  const times: number[] = []
  for (const change of [...others, ...others]) {
    const fairly = startFairTimer(api.server.pid())
    await took(change)
    times.push(fairly())
  }
  expect(Math.min(...times)).toBeLessThan(SNAPSHOT_AGE_MS_MAX)
  expect(await took({ filterPolicy: null })).toBeGreaterThanOrEqual(SNAPSHOT_AGE_MS_MAX)
})

const deep = `{"endpoint":"https://example.com/deep","filterPolicy":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`

test('a filter policy over a limit is refused with the limit and the value found', async () => {
  const filterPolicy = { store: Array.from({ length: 151 }, (_, i) => `s${i}`) }
  const { status, body } = await subscribe({ endpoint: 'https://example.com/refused', filterPolicy })
  const found = 'found 151 combinations of values, the limit is 150'
  expect([status, body.error.details]).toEqual([
    400,
    [{ path: 'filterPolicy', message: `is refused: Filter policy is too complex: ${found}` }],
  ])
})

test.each<[what: string, given: unknown]>([
  ['six keys', Object.fromEntries('abcdef'.split('').map((key) => [key, ['x']]))],
  ['no list', { store: 'a' }],
  ['a nested key under MessageAttributes', { store: { name: ['a'] } }],
  ['half of a surrogate pair', { store: ['\ud800'] }],
  ['text', 'store'],
])('a filter policy of %s is refused by its path', async (_what, filterPolicy) => {
  const { status, body } = await subscribe({ endpoint: 'https://example.com/refused', filterPolicy })
  expect([status, body.error.code, body.error.details.length]).toEqual([400, 'validation_failed', 1])
  expect(body.error.details[0].path).toBe('filterPolicy')
})

test('a filter policy that is nested too deeply is refused, as is a number that JSON cannot write', async () => {
  const headers = { 'Content-Type': 'application/json' }
  const path = '/v1/topics/orders/subscriptions'
  const nested = await api.call('POST', path, { body: deep, headers })
  expect(nested.body.error).toEqual({
    code: 'malformed_json',
    message: 'JSON may be nested at most 200 deep',
  })
  const odd = '{"endpoint":"https://example.com/far","filterPolicy":{"a":[1e999]}}'
  const { status, body } = await api.call('POST', path, { body: odd, headers })
  expect([status, body.error.details?.[0].path]).toEqual([400, 'filterPolicy'])
})

test('a policy that stays is checked against a change of its scope', async () => {
  const given = { filterPolicy: { store: { name: ['a'] } }, filterPolicyScope: 'MessageBody' }
  const { body } = await subscribe({ endpoint: 'https://example.com/scoped', ...given })
  const refused = await api.call('PATCH', `/v1/subscriptions/${body.id}`, {
    body: { filterPolicyScope: 'MessageAttributes' },
  })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'filterPolicy'])
})

test('retry mode and circuit breaker are set, shown with how the lane stands, and reset', async () => {
  const endpoint = 'https://example.com/paced'
  const circuitBreaker = { failures: 3 }
  const { status, body } = await subscribe({ endpoint, retryMode: 'adaptive', circuitBreaker })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    retryMode: 'adaptive',
    circuitBreaker: { failures: 3, probeSeconds: 30 },
    lane: { rate: null, retryQuota: 500, circuit: 'closed', nextProbeAt: null },
  })
  const place = placeOfSubscription(body.id)
  const failed = { subscriptionId: body.id, answered: 'timeout' as const, cost: 0 }
  await api.lanes.reportAnswers(place?.shard ?? -1, [failed, failed, failed])
  const { body: open } = await api.call('GET', `/v1/subscriptions/${body.id}`)
  expect(open.lane).toMatchObject({ rate: 0.5, circuit: 'open', nextProbeAt: expect.any(String) })
  expect((await subscribe({ endpoint, retryMode: 'standard' })).status).toBe(409)
  const reset = await api.call('PATCH', `/v1/subscriptions/${body.id}`, {
    body: { retryMode: null, circuitBreaker: null },
  })
  expect(reset.body).toMatchObject({
    retryMode: 'policy',
    circuitBreaker: null,
    lane: { rate: null, retryQuota: null, circuit: null, nextProbeAt: null },
  })
})

test('the throttle of message groups is set, shown, kept by other changes, and reset', async () => {
  const groupThrottle = { maxReceivesPerSecond: 5, overrides: { gold: 50, 'a=b': 0.5 } }
  const { body } = await subscribe({ endpoint: 'https://example.com/groups', groupThrottle })
  expect(body.groupThrottle).toEqual(groupThrottle)
  const path = `/v1/subscriptions/${body.id}`
  const laneOf = async () => {
    const base = shardBase(placeOfSubscription(body.id)?.shard ?? -1)
    return (await api.redis.hget(`${base}lane:${body.id}`, 'gr')) ?? null
  }
  expect(await laneOf()).toBe('5\tgold=50\ta=b=0.5\t')
  const { body: changed } = await api.call('PATCH', path, { body: { maxInFlight: 3 } })
  expect(changed).toMatchObject({ maxInFlight: 3, groupThrottle })
  const { body: reset } = await api.call('PATCH', path, { body: { groupThrottle: null } })
  expect([reset.groupThrottle, await laneOf()]).toEqual([null, null])
})

test('the action on a 410 is set, shown and reset, and a resume ends the pause of a 410', async () => {
  const { body: made } = await subscribe({ endpoint: 'https://example.com/gone' })
  expect(made).toMatchObject({ onGone: 'pause', pausedBecause: null })
  const path = `/v1/subscriptions/${made.id}`
  for (const onGone of ['deadLetter', null]) {
    const { body } = await api.call('PATCH', path, { body: { onGone } })
    expect(body.onGone).toBe(onGone ?? 'pause')
  }
  await api.deps.subscriptions.update(made.id, () => ({ status: 'paused', pausedBecause: 'gone' }))
  const { body: paused } = await api.call('POST', `${path}/pause`)
  expect(paused).toMatchObject({ status: 'paused', pausedBecause: 'gone', verdict: { code: 'gone' } })
  const { body: resumed } = await api.call('POST', `${path}/resume`)
  expect(resumed).toMatchObject({ status: 'active', pausedBecause: null, verdict: { code: 'fine' } })
})

const manyGroups = Array.from({ length: 101 }, (_, i) => [`g${i}`, 1])

test.each([
  ['retryMode', { retryMode: 'never' }],
  ['circuitBreaker.failures', { circuitBreaker: { failures: 0 } }],
  ['circuitBreaker.probeSeconds', { circuitBreaker: { probeSeconds: 3_601 } }],
  ['retryMode', { endpoint: QUEUE, retryMode: 'standard' }],
  ['circuitBreaker', { endpoint: QUEUE, circuitBreaker: {} }],
  ['groupThrottle', { groupThrottle: {} }],
  ['groupThrottle.maxReceivesPerSecond', { groupThrottle: { maxReceivesPerSecond: 1.5 } }],
  ['groupThrottle.overrides.a', { groupThrottle: { overrides: { a: 0 } } }],
  ['groupThrottle.overrides', { groupThrottle: { overrides: Object.fromEntries(manyGroups) } }],
  ['groupThrottle', { endpoint: QUEUE, groupThrottle: { maxReceivesPerSecond: 1 } }],
  ['onGone', { onGone: 'retry' }],
  ['onGone', { endpoint: QUEUE, onGone: 'pause' }],
  ['svixHeaders', { endpoint: QUEUE, svixHeaders: true }],
])('%s that makes no sense is refused by name', async (path, set) => {
  const { status, body } = await subscribe({ endpoint: 'https://example.com/refused', ...set })
  expect([status, body.error.details[0].path]).toEqual([400, path])
})

test('a name and metadata are kept, changed, reset and listed by', async () => {
  const given = { name: 'Billing', metadata: { team: 'payments', url: 'a:b', empty: '' } }
  const made = await subscribe({ endpoint: 'https://example.com/named', ...given })
  expect([made.status, made.body.name, made.body.metadata]).toEqual([201, given.name, given.metadata])
  const other = await subscribe({ endpoint: 'https://example.com/unnamed' })
  expect(other.body).toMatchObject({ name: null, metadata: {} })
  const listed = async (query: string, path = '/v1/subscriptions') => {
    const { status, body } = await api.call('GET', `${path}?${query}`)
    return status === 200 ? body.subscriptions.map(({ id }: { id: string }) => id) : status
  }
  const { id } = made.body
  const own = [id]
  expect(await listed('name=Billing')).toEqual(own)
  expect(await listed('name=Bill')).toEqual([])
  expect(await listed('metadata=team:payments', '/v1/topics/orders/subscriptions')).toEqual(own)
  expect(await listed('metadata=url:a:b&name=Billing')).toEqual(own)
  expect(await listed('metadata=empty:')).toEqual(own)
  expect(await listed('metadata=team:other')).toEqual([])
  expect(await listed('metadata=toString:')).toEqual([])
  expect(await listed('metadata=team')).toBe(400)
  const change = (body: object) => api.call('PATCH', `/v1/subscriptions/${id}`, { body })
  expect((await change({ metadata: { team: 'sales' } })).body).toMatchObject({
    name: 'Billing',
    metadata: { team: 'sales' },
  })
  expect(await listed('metadata=team:payments')).toEqual([])
  expect((await change({ name: null, metadata: null })).body).toMatchObject({ name: null, metadata: {} })
})

test.each([
  [{ name: '' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ metadata: { 'a b': 'x' } }, 'metadata.a b'],
  [{ metadata: { ['k'.repeat(41)]: 'x' } }, `metadata.${'k'.repeat(41)}`],
  [{ metadata: { a: 'x'.repeat(201) } }, 'metadata.a'],
  [{ metadata: { a: 1 } }, 'metadata.a'],
  [{ metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, ''])) }, 'metadata'],
])('names and metadata are bounded: %#', async (settings, path) => {
  const { status, body } = await subscribe({ endpoint: 'https://example.com/bounded', ...settings })
  expect([status, body.error.details[0].path]).toEqual([400, path])
})
