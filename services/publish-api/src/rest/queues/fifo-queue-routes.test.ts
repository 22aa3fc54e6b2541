import { Queues } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

let api: TestApi
beforeAll(async () => {
  api = await startTestApi()
})
afterAll(() => api.stop())

const put = (name: string, body: object = {}) => api.call('PUT', `/v1/queues/${name}`, { body })
const post = (path: string, body: object = {}) => api.call('POST', `/v1/queues/${path}`, { body })
const paths = ({ body }: { body: { error: { details: { path: string }[] } } }) =>
  body.error.details.map(({ path }) => path)

test('a name that ends in .fifo makes a FIFO queue; its kind cannot be changed', async () => {
  const created = await put('orders.fifo', { fifo: true, contentBasedDeduplication: true })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    fifo: true,
    contentBasedDeduplication: true,
    deduplicationScope: 'queue',
    counts: { visible: 0, inFlight: 0, delayed: 0, groupsInFlight: 0 },
  })
  expect((await put('orders.fifo', { fifo: false })).body.error.code).toBe('conflict')
  await put('plain')
  const changed = await api.call('PATCH', '/v1/queues/plain', { body: { fifo: true } })
  expect([changed.status, changed.body.error.code, paths(changed)]).toEqual([409, 'conflict', ['fifo']])
  const misnamed = await put('new', { fifo: true })
  expect([misnamed.status, paths(misnamed)]).toEqual([400, ['fifo']])
  expect((await api.call('GET', '/v1/queues/new')).status).toBe(404)
})

test('settings of FIFO queues are refused for others; null resets them', async () => {
  const refused = await put('plain', { contentBasedDeduplication: true, deduplicationScope: 'messageGroup' })
  expect([refused.status, paths(refused)]).toEqual([400, ['contentBasedDeduplication', 'deduplicationScope']])
  await put('reset.fifo', { contentBasedDeduplication: true, deduplicationScope: 'messageGroup' })
  const { body } = await put('reset.fifo', { contentBasedDeduplication: null, deduplicationScope: null })
  expect(body).toMatchObject({ contentBasedDeduplication: false, deduplicationScope: 'queue' })
})

test('messages of a group are received in order, with what makes it; a duplicate is answered as the first', async () => {
  await put('work.fifo', { contentBasedDeduplication: true })
  const messages = [
    { body: 'a1', groupId: 'a' },
    { body: 'b1', groupId: 'b', deduplicationId: 'mine' },
    { body: 'a2', groupId: 'a' },
  ]
  const sent = await post('work.fifo/messages', { messages })
  expect(sent.status).toBe(201)
  const [first, , third] = sent.body.results
  expect(third.sequenceNumber > first.sequenceNumber).toBe(true)
  expect((await post('work.fifo/messages', { body: 'a1', groupId: 'a' })).body).toEqual(first)
  const received = await post('work.fifo/receive', { maxMessages: 10 })
  expect(received.body.messages).toMatchObject([
    { ...first, body: 'a1', groupId: 'a' },
    { ...third, body: 'a2', groupId: 'a' },
    { body: 'b1', groupId: 'b', deduplicationId: 'mine' },
  ])
  const counts = (await api.call('GET', '/v1/queues/work.fifo')).body.counts
  expect(counts).toEqual({ visible: 0, inFlight: 3, delayed: 0, groupsInFlight: 2 })
})

test('a send to a FIFO queue lists everything that it lacks, and stores nothing', async () => {
  await put('strict.fifo')
  const messages = [
    { body: 'ok', groupId: 'g', deduplicationId: 'd' },
    { body: 'x', delaySeconds: 2 },
    { body: 'y', groupId: 'has space', deduplicationId: '' },
  ]
  const malformed = await post('strict.fifo/messages', { messages })
  expect(paths(malformed)).toEqual(['messages[2].groupId', 'messages[2].deduplicationId'])
  const lacking = await post('strict.fifo/messages', { messages: messages.slice(0, 2) })
  const found = ['messages[1].groupId', 'messages[1].deduplicationId', 'messages[1].delaySeconds']
  expect([lacking.status, paths(lacking)]).toEqual([400, found])
  expect((await api.call('GET', '/v1/queues/strict.fifo')).body.counts.visible).toBe(0)
})

test('a standard queue passes a group on, and takes no deduplication id', async () => {
  await put('plain')
  const refused = await post('plain/messages', { body: 'x', deduplicationId: 'd' })
  expect([refused.status, paths(refused)]).toEqual([400, ['deduplicationId']])
  const sent = await post('plain/messages', { body: 'x', groupId: 'g' })
  expect(sent.body).not.toHaveProperty('sequenceNumber')
  expect((await post('plain/receive')).body.messages).toMatchObject([{ body: 'x', groupId: 'g' }])
})

test('a queue refuses what is larger than it takes', async () => {
  await put('small', { maximumMessageBytes: 1_024 })
  expect((await post('small/messages', { body: 'x'.repeat(1_024) })).status).toBe(201)
  const { status, body } = await post('small/messages', { messages: [{ body: 'x'.repeat(1_025) }] })
  expect([status, body.error.code, body.error.details[0].path]).toEqual([
    413,
    'too_large',
    'messages[0].body',
  ])
})

test('a dead-letter queue is of the same kind and may say who names it', async () => {
  await put('dead.fifo', {
    redriveAllowPolicy: { redrivePermission: 'byQueue', sourceQueueArns: ['allowed.fifo'] },
  })
  const to = (target: string) => ({ redrivePolicy: { deadLetterTargetArn: target, maxReceiveCount: 2 } })
  expect((await put('allowed.fifo', to('dead.fifo'))).status).toBe(201)
  for (const [name, target] of [
    ['other.fifo', 'dead.fifo'],
    ['plain', 'dead.fifo'],
    ['other.fifo', 'plain'],
  ] as const) {
    const refused = await put(name, to(target))
    expect([refused.status, paths(refused)]).toEqual([400, ['redrivePolicy.deadLetterTargetArn']])
  }
  const lists = [{ redrivePermission: 'byQueue' }, { redrivePermission: 'denyAll', sourceQueueArns: ['a'] }]
  for (const redriveAllowPolicy of lists) {
    expect(paths(await put('plain', { redriveAllowPolicy }))).toEqual(['redriveAllowPolicy.sourceQueueArns'])
  }
})

test('too many in flight is answered 429', async () => {
  await put('full')
  const messages = [{ body: 'a' }, { body: 'b' }]
  await post('full/messages', { messages })
  const bounded = new Queues(api.redis, { inFlightMax: 1 })
  api.deps.queueWaits = { receiveWaiting: (arn, request) => bounded.receive(arn, request) }
  expect((await post('full/receive', { maxMessages: 10 })).body.messages).toHaveLength(1)
  const refused = await post('full/receive')
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
})
