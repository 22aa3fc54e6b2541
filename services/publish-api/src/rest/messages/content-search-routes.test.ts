/** Searches of kept messages and dead letters by content, over REST. */
import { createMessageId, type DeadLetter, type Message, parseMessageId } from '@fantail/contracts'
import { KeptMessages, messageBody } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const PLACE = 'us-east-1:000000000000:'
const topicOf = (name: string) => `arn:aws:sns:${PLACE}${name}`
const queueOf = (name: string) => `arn:aws:sqs:${PLACE}${name}`
const KEEP = { keepMessages: { seconds: 3_600, bytes: 8_388_608 } }
const TYPED = (type: string) => ({ attributes: { eventType: { type: 'String', value: type } } })
let api: TestApi
let admin: TestKey
const subscriptions: Record<string, { id: string; arn: string }> = {}
const ids: Record<string, string> = {}

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'bodies'])
  for (const [topic, customer] of [
    ['hooli-orders', 'hooli'],
    ['acme-orders', 'acme'],
  ] as const) {
    await admin.call('PUT', `/v1/topics/${topic}`, { body: KEEP })
    const body = { endpoint: `https://${customer}.example.com/in`, metadata: { customer } }
    subscriptions[topic] = (await admin.call('POST', `/v1/topics/${topic}/subscriptions`, { body })).body
    await admin.call('PUT', `/v1/queues/${topic}-dlq`)
  }
  await admin.call('PUT', '/v1/queues/jobs')
  await admin.call('POST', '/v1/queues/jobs/messages', { body: { body: 'Größe of a job' } })
  const json = JSON.stringify({ note: 'Größe M', id: 4711 })
  await stored('plain', 'hooli-orders', { message: json, ...TYPED('order.paid') })
  await stored('escaped', 'hooli-orders', {
    message: json.replace('ö', '\\u00f6'),
    ...TYPED('order.paid.late'),
  })
  await stored('attribute', 'acme-orders', {
    message: 'nothing',
    subject: 'Invoice',
    attributes: { note: { type: 'String', value: 'größer' } },
  })
})
afterAll(() => api.stop())

/** A message that its topic keeps, and that is a dead letter too. */
async function stored(name: string, topic: string, set: Partial<Message>): Promise<void> {
  const publishedAt = Date.now()
  const [messageId, topicArn] = [createMessageId(publishedAt), topicOf(topic)]
  const message: Message = { messageId, topicArn, publishedAt, message: '', ...set }
  const uid = (await api.deps.topics.get(topicArn))?.uid ?? ''
  const id = parseMessageId(messageId) ?? Buffer.alloc(0)
  await new KeptMessages(api.redis).keep([{ arn: topicArn, uid, id, body: messageBody(message) }])
  const facts = { reason: 'permanent' as const, attempts: 1, statusCode: 400, lastError: null, generation: 0 }
  const times = { publishedAt, deadLetteredAt: publishedAt }
  const subscriptionArn = subscriptions[topic]?.arn ?? ''
  const deadLetter: DeadLetter = { ...facts, ...times, messageId, message, topicArn, subscriptionArn }
  await api.deps.queues.send(queueOf(`${topic}-dlq`), [{ body: 'x', deadLetter }])
  ids[name] = messageId
}

const search = (what: string, query: string, key = admin) => key.call('GET', `/v1/search/${what}?${query}`)
type Found = { messageId: string; publishedMessageId?: string }

/** Follows the cursor to the end, because on a busy machine an answer may be short. */
async function searchWhole(what: string, query: string, key = admin) {
  const found: Found[] = []
  let scanned = 0
  for (let cursor = ''; ; ) {
    const { body } = await search(what, `limit=100&${query}${cursor}`, key)
    found.push(...(body.messages ?? body.letters))
    scanned += body.scanned
    const { queues, queuesDone, nextCursor } = body
    if (nextCursor === null) return { found, scanned, queues, queuesDone }
    cursor = `&cursor=${nextCursor}`
  }
}

/** Names of what both searches find. They must find the same. */
async function found(query: string, key = admin): Promise<string[]> {
  const nameOf = (id: string | undefined) => Object.keys(ids).find((name) => ids[name] === id) ?? 'unknown'
  const kept = (await searchWhole('kept-messages', query, key)).found.map((one) => nameOf(one.messageId))
  const dead = (await searchWhole('dead-letters', query, key)).found.map((one) =>
    nameOf(one.publishedMessageId),
  )
  expect(dead.toSorted()).toEqual(kept.toSorted())
  return kept.toSorted()
}

test.each([
  ['text=größe', ['attribute', 'escaped', 'plain']],
  ['text=GRÖßE%20M', ['escaped', 'plain']],
  ['text=u00f6', ['escaped']],
  ['text=4711&topic=hooli-orders', ['escaped', 'plain']],
  ['text=invoice', ['attribute']],
  ['text=note%20%3D%20gr', ['attribute']],
  ['text=nowhere', []],
  ['eventType=order.paid', ['plain']],
  ['eventType=order.*', ['escaped', 'plain']],
  ['eventType=order.paid.*', ['escaped']],
  ['eventType=*&text=gr', ['escaped', 'plain']],
  ['topicPrefix=acme', ['attribute']],
  ['metadata=customer:hooli', ['escaped', 'plain']],
  ['metadata=customer:nobody', []],
  ['since=2999-01-01T00:00:00Z', []],
  ['', ['attribute', 'escaped', 'plain']],
])('%s finds %j', async (query, names) => {
  expect(await found(query)).toEqual(names)
})

test('a find shows its type, and a line from the place that was found', async () => {
  const typed = 'text=größe&topicPrefix=hooli&eventType=order.paid'
  const [message] = (await searchWhole('kept-messages', typed)).found
  expect(message).toEqual({
    messageId: ids.plain,
    topicArn: topicOf('hooli-orders'),
    publishedAt: expect.any(String),
    sizeBytes: expect.any(Number),
    eventType: 'order.paid',
    line: '{"note":"Größe M","id":4711}',
    foundIn: 'message',
  })
  const [letter] = (await searchWhole('dead-letters', 'text=größer')).found
  expect(letter).toMatchObject({
    queueArn: queueOf('acme-orders-dlq'),
    publishedMessageId: ids.attribute,
    line: 'note = größer',
    foundIn: 'attributes',
    reason: 'permanent',
    statusCode: 400,
  })
})

test('an answer says how far it looked, and its cursor goes on', async () => {
  for (const what of ['kept-messages', 'dead-letters']) {
    const names: string[] = []
    let scanned = 0
    for (let cursor = ''; ; ) {
      const { body } = await search(what, `limit=1${cursor}`)
      names.push(
        ...(body.messages ?? body.letters).map((one: Found) => one.publishedMessageId ?? one.messageId),
      )
      scanned += body.scanned
      if (body.nextCursor === null) break
      cursor = `&cursor=${body.nextCursor}`
    }
    expect([names.toSorted(), scanned]).toEqual([Object.values(ids).toSorted(), 3])
  }
  const one = await searchWhole('dead-letters', 'queue=acme-orders-dlq')
  expect(one).toMatchObject({ found: [{ publishedMessageId: ids.attribute }], queues: 1, scanned: 1 })
  const none = await searchWhole('dead-letters', 'text=nowhere')
  expect(none).toEqual({ found: [], queues: 3, queuesDone: 3, scanned: 3 })
})

test('a key finds only what it may read, and needs the scope bodies', async () => {
  for (const what of ['kept-messages', 'dead-letters']) {
    const blind = await search(what, 'text=x', await keyWith(api, ['read']))
    expect([blind.status, blind.body.error.message]).toEqual([403, expect.stringContaining('bodies')])
  }
  const acme = await keyWith(api, ['read', 'bodies'], { prefixes: ['acme'] })
  expect(await found('text=gr', acme)).toEqual(['attribute'])
  expect((await search('kept-messages', 'topic=hooli-orders', acme)).status).toBe(403)
  const reader = await keyWith(api, ['read', 'bodies'])
  const user = `arn:aws:iam::000000000000:user/${reader.id}`
  const denying = (Action: string, Resource: string) =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Principal: { AWS: user }, Action, Resource }],
    })
  const [topic, queue] = [topicOf('hooli-orders'), queueOf('hooli-orders-dlq')]
  await api.deps.topics.patch(topic, { attributes: { Policy: denying('SNS:GetTopicAttributes', topic) } })
  await api.deps.queues.patch(queue, { attributes: { Policy: denying('SQS:ReceiveMessage', queue) } })
  api.deps.topicCache.forget(topic)
  api.deps.queueCache.forget(queue)
  expect(await found('', reader)).toEqual(['attribute'])
  expect(await found('', admin)).toHaveLength(3)
})

test.each([
  ['text=', 'text'],
  [`text=${'x'.repeat(201)}`, 'text'],
  ['eventType=order..paid', 'eventType'],
  ['eventType=*.paid', 'eventType'],
  ['metadata=customer', 'metadata'],
  ['cursor=nonsense', 'cursor'],
  ['colour=red', 'colour'],
])('%s is refused', async (query, path) => {
  for (const what of ['kept-messages', 'dead-letters']) {
    const { status, body } = await search(what, query)
    expect([status, body.error?.details?.[0].path]).toEqual([400, path])
  }
})

test('a message that a queue has moved is found, unless a condition is about topics or times', async () => {
  await admin.call('PUT', '/v1/queues/moves-dlq')
  const redrivePolicy = { deadLetterTargetArn: 'moves-dlq', maxReceiveCount: 1 }
  await admin.call('PUT', '/v1/queues/moves', { body: { visibilityTimeoutSeconds: 0, redrivePolicy } })
  const envelope = { Type: 'Notification', Message: 'Größe of a move' }
  await admin.call('POST', '/v1/queues/moves/messages', { body: { body: JSON.stringify(envelope) } })
  for (let receives = 0; receives < 2; receives++) await admin.call('POST', '/v1/queues/moves/receive')
  const moved = async (query = '') => (await searchWhole('dead-letters', `text=a%20MOVE${query}`)).found
  await expect.poll(() => moved()).toHaveLength(1)
  expect(await moved()).toEqual([
    {
      queueArn: queueOf('moves-dlq'),
      messageId: expect.any(String),
      ...{ publishedMessageId: null, topicArn: null, subscriptionArn: null, deadLetteredAt: null },
      sourceQueueArn: queueOf('moves'),
      ...{ reason: 'maxReceiveCount', statusCode: null, lastError: null },
      ...{ eventType: null, line: 'Größe of a move', foundIn: 'message' },
    },
  ])
  for (const condition of ['topicPrefix=hooli', 'metadata=customer:hooli', 'since=2020-01-01T00:00:00Z'])
    expect(await moved(`&${condition}`)).toEqual([])
  const blind = await keyWith(api, ['read', 'bodies'], { prefixes: ['acme'] })
  expect((await searchWhole('dead-letters', 'text=a%20move', blind)).found).toEqual([])
  await admin.call('DELETE', '/v1/queues/moves')
  expect(await moved('&queue=moves-dlq')).toHaveLength(1)
})
