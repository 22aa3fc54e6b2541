import type { DeadLetter } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const ARN = 'arn:aws:sqs:us-east-1:000000000000:work'
const SUBSCRIPTION = 'arn:aws:sns:us-east-1:000000000000:orders:000b1478-1b20-8eb5-9000-0abada1c0c5f'
const LETTER_MESSAGE_ID = '01a1fbe2-80fa-72ab-bc08-d682f311b524'
const DAY_MS = 86_400_000
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
})

afterAll(() => api.stop())

const post = (path: string, body?: object) => api.call('POST', `/v1/queues/${path}`, body && { body })

/** Puts a dead letter with the given members into the queue. */
const TOPIC = 'arn:aws:sns:us-east-1:000000000000:orders'

async function deadLetter(queue: string, given: Partial<DeadLetter>): Promise<void> {
  const letter: DeadLetter = {
    reason: 'permanent',
    statusCode: 400,
    lastError: null,
    attempts: 1,
    subscriptionArn: SUBSCRIPTION,
    topicArn: TOPIC,
    messageId: LETTER_MESSAGE_ID,
    generation: 0,
    publishedAt: Date.now(),
    deadLetteredAt: Date.now(),
    message: { messageId: LETTER_MESSAGE_ID, topicArn: TOPIC, publishedAt: 1, message: 'dead' },
    ...given,
  }
  await api.deps.queues.send(`arn:aws:sqs:us-east-1:000000000000:${queue}`, [
    { body: 'dead', deadLetter: letter },
  ])
}

test('PUT creates a queue with defaults, then sets only what it is given; null resets', async () => {
  const created = await api.call('PUT', '/v1/queues/work')
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    name: 'work',
    arn: ARN,
    url: 'http://localhost/000000000000/work',
    visibilityTimeoutSeconds: 30,
    retentionSeconds: 1_209_600,
    delaySeconds: 0,
    receiveWaitSeconds: 0,
    redrivePolicy: null,
    counts: { visible: 0, inFlight: 0, delayed: 0 },
    oldestSeconds: null,
  })
  const set = await api.call('PUT', `/v1/queues/${ARN}`, {
    body: { visibilityTimeoutSeconds: 5, delaySeconds: 1 },
  })
  expect([set.status, set.body.visibilityTimeoutSeconds, set.body.delaySeconds]).toEqual([200, 5, 1])
  const patched = await api.call('PATCH', '/v1/queues/work', { body: { delaySeconds: null } })
  expect([patched.body.visibilityTimeoutSeconds, patched.body.delaySeconds]).toEqual([5, 0])
})

test('tags and attributes of AWS are set, shown, and checked', async () => {
  const Policy = JSON.stringify({
    Statement: [{ Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage' }],
  })
  const set = { tags: { team: 'a' }, attributes: { Policy } }
  expect((await api.call('PUT', '/v1/queues/tagged', { body: set })).body).toMatchObject(set)
  const wrong = { Policy: '[]', KmsDataKeyReusePeriodSeconds: '5', SqsManagedSseEnabled: 'yes', Other: 'x' }
  const { status, body } = await api.call('PATCH', '/v1/queues/tagged', { body: { attributes: wrong } })
  const paths = body.error.details.map(({ path }: { path: string }) => path)
  expect([status, ...paths]).toEqual([400, ...Object.keys(wrong).map((name) => `attributes.${name}`)])
})

test('a redrive policy names its queue by name or ARN, and that queue lists it as a source', async () => {
  await api.call('PUT', '/v1/queues/failed')
  const redrivePolicy = { deadLetterTargetArn: 'failed', maxReceiveCount: 3 }
  const { body } = await api.call('PUT', '/v1/queues/fails', { body: { redrivePolicy } })
  const target = 'arn:aws:sqs:us-east-1:000000000000:failed'
  expect(body.redrivePolicy).toEqual({ deadLetterTargetArn: target, maxReceiveCount: 3 })
  expect((await api.call('GET', '/v1/queues/failed')).body.deadLetterSources).toEqual([body.arn])
})

test('a message is sent, received once, hidden, shown again and deleted', async () => {
  await api.call('PUT', '/v1/queues/cycle')
  const sent = await post('cycle/messages', { body: 'hello', attributes: { n: 1, tags: ['a'] } })
  expect(sent.status).toBe(201)
  const [message] = (await post('cycle/receive', { maxMessages: 10 })).body.messages
  expect(message).toMatchObject({
    messageId: sent.body.messageId,
    receiveCount: 1,
    body: 'hello',
    attributes: { n: { type: 'Number', value: '1' }, tags: { type: 'String.Array', value: '["a"]' } },
  })
  expect((await post('cycle/receive')).body.messages).toEqual([])
  const handles = { receiptHandles: [message.receiptHandle, 'nonsense'] }
  const shown = await post('cycle/visibility', { ...handles, visibilityTimeoutSeconds: 0 })
  expect(shown.body.results).toEqual([{ ok: true }, { ok: false, error: 'invalid_receipt_handle' }])
  const [again] = (await post('cycle/receive')).body.messages
  expect(again.receiveCount).toBe(2)
  const acked = await post('cycle/ack', { receiptHandles: [again.receiptHandle] })
  expect(acked.body).toEqual({ results: [{ ok: true }] })
  expect((await api.call('GET', '/v1/queues/cycle')).body.counts).toEqual({
    visible: 0,
    inFlight: 0,
    delayed: 0,
  })
})

test('a handle of an earlier receive acknowledges on a standard queue, and is refused on a FIFO queue', async () => {
  for (const [queue, result, inFlight] of [
    ['handles', { ok: true }, 0],
    ['handles.fifo', { ok: false, error: 'expired_receipt_handle' }, 1],
  ] as const) {
    await api.call('PUT', `/v1/queues/${queue}`)
    const order = queue.endsWith('.fifo') ? { groupId: 'g', deduplicationId: 'd' } : {}
    await post(`${queue}/messages`, { body: 'once', ...order })
    const [first] = (await post(`${queue}/receive`)).body.messages
    const shown = { receiptHandles: [first.receiptHandle], visibilityTimeoutSeconds: 0 }
    expect((await post(`${queue}/visibility`, shown)).body.results).toEqual([{ ok: true }])
    const [second] = (await post(`${queue}/receive`)).body.messages
    expect(second.receiptHandle).not.toBe(first.receiptHandle)
    expect((await post(`${queue}/ack`, { receiptHandles: [first.receiptHandle] })).body.results).toEqual([
      result,
    ])
    expect((await api.call('GET', `/v1/queues/${queue}`)).body.counts.inFlight).toBe(inFlight)
  }
})

test('a batch is answered in order; one bad entry refuses all of it', async () => {
  await api.call('PUT', '/v1/queues/batch')
  const sent = await post('batch/messages', { messages: [{ body: 'a' }, { body: 'b', delaySeconds: 60 }] })
  expect(sent.body.results).toHaveLength(2)
  const attributes = { fine: 'x', odd: 'a\x02b' }
  const bad = await post('batch/messages', {
    messages: [{ body: 'c' }, { body: '' }, { body: 'd', delaySeconds: 901 }, { body: 'e', attributes }],
  })
  expect(bad.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
    'messages[1].body',
    'messages[2].delaySeconds',
    'messages[3].attributes.odd',
  ])
  expect((await api.call('GET', '/v1/queues/batch')).body.counts).toEqual({
    visible: 1,
    inFlight: 0,
    delayed: 1,
  })
})

test('a receive that waits gets the message that is sent meanwhile', async () => {
  await api.call('PUT', '/v1/queues/polled')
  const waiting = post('polled/receive', { waitSeconds: 20 })
  await post('polled/messages', { body: 'at last' })
  expect((await waiting).body.messages).toMatchObject([{ body: 'at last' }])
})

test('looking takes nothing: peek, one message, purge', async () => {
  await api.call('PUT', '/v1/queues/look')
  const { body } = await post('look/messages', { messages: [{ body: 'a' }, { body: 'b' }] })
  const first = await api.call('GET', '/v1/queues/look/messages?limit=1')
  const second = await api.call('GET', `/v1/queues/look/messages?limit=1&cursor=${first.body.nextCursor}`)
  expect([...first.body.messages, ...second.body.messages].map((item) => item.body)).toEqual(['a', 'b'])
  const path = `/v1/queues/look/messages/${body.results[0].messageId}`
  expect((await api.call('GET', path)).body).toMatchObject({ body: 'a', receiveCount: 0 })
  for (let i = 0; i < 2; i++) expect((await api.call('DELETE', path)).status).toBe(204)
  expect((await api.call('GET', path)).status).toBe(404)
  expect((await post('look/purge')).body).toEqual({ discarded: 1 })
})

test('dead letters are shown, narrowed and counted by what became of them', async () => {
  await api.call('PUT', '/v1/queues/letters')
  await deadLetter('letters', {})
  await deadLetter('letters', { reason: 'retriesExhausted', statusCode: 503, attempts: 4, lastError: 'busy' })
  await deadLetter('letters', {
    reason: 'expired',
    statusCode: null,
    deadLetteredAt: Date.now() - 10 * DAY_MS,
  })
  const between = new Date(Date.now() - 5 * DAY_MS).toISOString().replace('Z', '%2B00:00')
  const reasons = async (query: string) => {
    const { body } = await api.call('GET', `/v1/queues/letters/messages?${query}`)
    return body.messages.map(({ deadLetter: letter }: { deadLetter: DeadLetter }) => letter.reason).sort()
  }
  expect(await reasons('statusCode=503')).toEqual(['retriesExhausted'])
  expect(await reasons(`until=${between}`)).toEqual(['expired'])
  expect(await reasons(`subscription=${SUBSCRIPTION}&since=${between}`)).toEqual([
    'permanent',
    'retriesExhausted',
  ])
  expect((await api.call('GET', '/v1/queues/letters/dead-letters')).body).toEqual({
    byReason: { permanent: 1, retriesExhausted: 1, expired: 1 },
    byStatusCode: { '400': 1, '503': 1, none: 1 },
    bySubscription: { [SUBSCRIPTION]: 3 },
  })
})

test('dead letters are looked at, counted and purged by reason, and name the message that was published', async () => {
  await api.call('PUT', '/v1/queues/reasons')
  await deadLetter('reasons', {})
  await deadLetter('reasons', { reason: 'expired', statusCode: null })
  await deadLetter('reasons', { reason: 'expired', statusCode: 503 })
  await post('reasons/messages', { body: 'no letter' })
  const path = '/v1/queues/reasons'
  const looked = await api.call('GET', `${path}/messages?reason=expired`)
  const letters = looked.body.messages.map((item: { deadLetter: object }) => item.deadLetter)
  const expired = { reason: 'expired', publishedMessageId: LETTER_MESSAGE_ID }
  expect(letters).toMatchObject([expired, expired])
  expect((await api.call('GET', `${path}/dead-letters?reason=expired`)).body).toMatchObject({
    byReason: { expired: 2 },
    byStatusCode: { '503': 1, none: 1 },
    bySubscription: { [SUBSCRIPTION]: 2 },
  })
  expect((await api.call('GET', `${path}/dead-letters?reason=retriesExhausted`)).body).toMatchObject({
    byReason: {},
    byStatusCode: {},
    bySubscription: {},
  })
  const dry = await post('reasons/purge', { filter: { statusCode: 503, reason: 'expired' }, dryRun: true })
  expect(dry.body).toEqual({ discarded: 0, matched: 1 })
  const byStatus = { filter: { statusCode: 503, reason: 'expired' } }
  expect((await post('reasons/purge', byStatus)).body).toEqual({ discarded: 1 })
  expect((await post('reasons/purge', { reason: 'expired' })).body).toEqual({ discarded: 1 })
  for (const wrong of [{ filter: {} }, { filter: { statusCode: 503 }, reason: 'expired' }]) {
    expect((await post('reasons/purge', wrong)).status).toBe(400)
  }
  expect((await post('reasons/purge', { reason: 'expired' })).body).toEqual({ discarded: 0 })
  expect((await api.call('GET', `${path}/dead-letters`)).body.byReason).toEqual({ permanent: 1 })
  const wrong = await Promise.all([
    api.call('GET', `${path}/messages?reason=other`),
    api.call('GET', `${path}/dead-letters?reason=other`),
    post('reasons/purge', { reason: 'other' }),
  ])
  expect(wrong.map(({ status }) => status)).toEqual([400, 400, 400])
  expect((await post('reasons/purge')).body).toEqual({ discarded: 2 })
})

test('DELETE answers 204 twice; nothing can be done to a queue that is gone', async () => {
  await api.call('PUT', '/v1/queues/brief')
  for (let i = 0; i < 2; i++) expect((await api.call('DELETE', '/v1/queues/brief')).status).toBe(204)
  const handles = { receiptHandles: ['h'] }
  const answers = await Promise.all([
    api.call('GET', '/v1/queues/brief'),
    api.call('PATCH', '/v1/queues/brief', { body: {} }),
    post('brief/messages', { body: 'x' }),
    post('brief/receive'),
    post('brief/ack', handles),
    post('brief/visibility', { ...handles, visibilityTimeoutSeconds: 1 }),
    post('brief/purge'),
    api.call('GET', '/v1/queues/brief/messages'),
    api.call('GET', '/v1/queues/brief/dead-letters'),
  ])
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
})
