import { idempotencyKey, topicKey } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApi, type TestApi } from '../../fixtures/test-api.fixture.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders'
let api: TestApi

beforeAll(async () => {
  api = await startTestApi()
  await api.call('PUT', '/v1/topics/orders')
})

afterAll(() => api.stop())

const publish = (body: unknown, headers: Record<string, string> = {}) =>
  api.call('POST', '/v1/topics/orders/messages', { body, headers })

/** The stored message with this id. */
async function stored(messageId: string) {
  return (await api.published()).find((message) => message.messageId === messageId)
}

test('a message is stored before it is acknowledged, with everything it came with', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { status, body, headers } = await publish(
    {
      message: 'hello',
      subject: 'Greeting',
      attributes: {
        colour: 'red',
        size: 4.5,
        tags: ['a', 'b'],
        image: { type: 'Binary.png', value: 'aGk=' },
      },
    },
    { traceparent, 'X-Request-Id': 'mine-1' },
  )
  expect(status).toBe(202)
  expect(headers.get('x-request-id')).toBe('mine-1')
  expect(await stored(body.messageId)).toEqual({
    messageId: body.messageId,
    topicArn: ARN,
    topicUid: expect.stringMatching(/^[0-9a-f]{15}$/),
    publishedAt: expect.any(Number),
    message: 'hello',
    subject: 'Greeting',
    attributes: {
      colour: { type: 'String', value: 'red' },
      size: { type: 'Number', value: '4.5' },
      tags: { type: 'String.Array', value: '["a","b"]' },
      image: { type: 'Binary.png', value: 'aGk=' },
    },
    publicUrl: 'http://localhost',
    traceparent,
  })
})

test('a message that another service published first is stored with the id that it has there', async () => {
  const sourceId = '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324'
  const { body } = await publish({ message: 'copy', sourceId })
  expect(await stored(body.messageId)).toMatchObject({ messageId: body.messageId, sourceId })
  const wrong = await publish({ message: 'copy', sourceId: sourceId.toUpperCase() })
  expect([wrong.status, wrong.body.error.details]).toEqual([
    400,
    [{ path: 'sourceId', message: 'must be a UUID in lower case' }],
  ])
  const once = { 'Idempotency-Key': 'copied' }
  await publish({ message: 'copy', sourceId }, once)
  expect((await publish({ message: 'copy' }, once)).body.error.code).toBe('idempotency_mismatch')
})

test('an object is stored as its JSON text, with its numbers as they were written', async () => {
  const text =
    '{"message":{"id":12345678901234567890,"price":1.50,"far":1e400,"none":-0},"attributes":{"n":9007199254740993}}'
  const { body } = await publish(text, { 'Content-Type': 'application/json' })
  const message = await stored(body.messageId)
  expect(message?.message).toBe('{"id":12345678901234567890,"price":1.50,"far":1e400,"none":-0}')
  expect(message?.attributes).toEqual({ n: { type: 'Number', value: '9007199254740993' } })
})

test('with raw=true the body is the message, of any type', async () => {
  const { status, body } = await api.call(
    'POST',
    '/v1/topics/orders/messages?raw=true&subject=From%20a%20form',
    {
      body: 'a=1&b=2',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
  )
  expect(status).toBe(202)
  expect(await stored(body.messageId)).toMatchObject({ message: 'a=1&b=2', subject: 'From a form' })
})

test('a batch is answered in order, and one bad entry refuses all of it', async () => {
  const good = await publish({ messages: [{ message: 'one' }, { message: ['two'], subject: 'second' }] })
  expect(good.status).toBe(202)
  const texts = await Promise.all(
    good.body.results.map(async ({ messageId }: { messageId: string }) => (await stored(messageId))?.message),
  )
  expect(texts).toEqual(['one', '["two"]'])
  const before = (await api.published()).length
  const bad = await publish({
    messages: [{ message: 'a' }, { message: '' }, { message: 'c' }, { message: 'd', subject: '' }],
  })
  expect(bad.status).toBe(400)
  expect(bad.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
    'messages[1].message',
    'messages[3].subject',
  ])
  expect(await api.published()).toHaveLength(before)
})

test('a message and its attributes may have 262,144 bytes together and no more', async () => {
  const fits = { message: 'x'.repeat(262_144 - 10), attributes: { abc: 'd' } }
  expect((await publish(fits)).status).toBe(202)
  const { status, body } = await publish({ ...fits, message: `${fits.message}x` })
  expect(status).toBe(413)
  expect(body.error).toMatchObject({ code: 'too_large', details: [{ path: 'message' }] })
  const raw = await api.call('POST', '/v1/topics/orders/messages?raw=true', { body: 'x'.repeat(262_145) })
  expect(raw.body.error.code).toBe('too_large')
})

test('a body over 1 MiB is refused, announced or not', async () => {
  const body = 'x'.repeat(1_048_577)
  const path = '/v1/topics/orders/messages?raw=true'
  for (const headers of [{}, { 'Content-Length': String(body.length) }] as Record<string, string>[]) {
    const answer = await api.call('POST', path, { body, headers })
    expect([answer.status, answer.body.error.code]).toEqual([413, 'too_large'])
  }
})

test('structure "json" needs a default text and is stored with the message', async () => {
  const { body } = await publish({ message: { default: 'all', https: 'web' }, structure: 'json' })
  expect(await stored(body.messageId)).toMatchObject({
    structure: 'json',
    message: '{"default":"all","https":"web"}',
  })
})

test('a topic that does not exist is 404 until it is made, and again once it is deleted', async () => {
  const body = { message: 'x' }
  const path = '/v1/topics/brief/messages'
  expect((await api.call('POST', path, { body })).body.error.code).toBe('not_found')
  await api.call('PUT', '/v1/topics/brief')
  expect((await api.call('POST', path, { body })).status).toBe(202)
  await api.call('DELETE', '/v1/topics/brief')
  expect((await api.call('POST', path, { body })).body.error.code).toBe('not_found')
})

test('an ARN names the topic as its name does', async () => {
  const { status, body } = await api.call('POST', `/v1/topics/${ARN}/messages`, { body: { message: 'x' } })
  expect(status).toBe(202)
  expect(await stored(body.messageId)).toMatchObject({ topicArn: ARN })
})

test('the same Idempotency-Key and body answer the same id once more; another body is a conflict', async () => {
  const headers = { 'Idempotency-Key': 'order-1' }
  const first = await publish({ message: 'x', attributes: { a: '1', b: '2' } }, headers)
  const second = await publish({ attributes: { b: '2', a: '1' }, message: 'x' }, headers)
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  expect(second.headers.get('idempotent-replayed')).toBe('true')
  expect(second.body).toEqual(first.body)
  const other = await publish({ message: 'y' }, headers)
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_mismatch'])
  expect((await api.published()).filter(({ messageId }) => messageId === first.body.messageId)).toHaveLength(
    1,
  )
})

test('concurrent publishes with one key all answer the winner, and each carries what dispatch needs to drop the rest', async () => {
  const headers = { 'Idempotency-Key': 'crowd' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => publish({ message: 'crowded' }, headers)),
  )
  expect(new Set(answers.map(({ body }) => body.messageId)).size).toBe(1)
  expect(answers.filter(({ headers: answer }) => answer.get('idempotent-replayed') === null)).toHaveLength(1)
  const uid = (await api.redis.hget(topicKey(ARN), 'uid')) ?? ''
  const key = idempotencyKey(ARN, uid, 'crowd')
  const winner = JSON.parse((await api.redis.get(key)) ?? '')
  expect(winner.ids).toEqual([answers[0]?.body.messageId])
  const copies = (await api.published()).filter(({ message }) => message === 'crowded')
  for (const { idempotency, messageId } of copies) {
    expect(idempotency?.key).toBe(key)
    expect(JSON.parse(idempotency?.value ?? '').ids).toEqual([messageId])
  }
})

test('a batch with a key is replayed as a batch', async () => {
  const headers = { 'Idempotency-Key': 'batch-1' }
  const body = { messages: [{ message: '1' }, { message: '2' }] }
  const first = await publish(body, headers)
  const second = await publish(body, headers)
  expect(second.body).toEqual(first.body)
  expect(second.body.results).toHaveLength(2)
})

test('each publish is one log line with its ids', async () => {
  const { body } = await publish({ message: 'logged' })
  const line = api.events.findLast(({ event }) => event === 'message.published')
  expect(line?.fields).toMatchObject({ topicArn: ARN, messageId: body.messageId, bytes: 6, replayed: false })
})

test('a group is kept, also on a standard topic; a deduplication id is for FIFO topics', async () => {
  const { body } = await publish({ message: 'x', groupId: 'customer-7' })
  expect(await stored(body.messageId)).toMatchObject({ groupId: 'customer-7' })
  const refused = await publish({
    messages: [{ message: 'x' }, { message: 'y', groupId: 'g', deduplicationId: 'd' }],
  })
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ path: 'messages[1].deduplicationId', message: 'is for FIFO topics only' }],
  ])
})

test('a topic’s own limit on the size of messages holds', async () => {
  await api.deps.topics.put(ARN, { attributes: { MaximumMessageSize: '1024' } })
  api.deps.topicCache.forget(ARN)
  const refused = await publish({ message: 'x'.repeat(1_024), attributes: { a: 'b' } })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'message'])
  expect((await publish({ message: 'x'.repeat(1_024) })).status).toBe(202)
})

test('a FIFO topic wants a group and a deduplication id, and answers a repeated publish with the first receipt', async () => {
  const fifo = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'
  await api.deps.topics.put(fifo, {})
  const send = (body: unknown, headers = {}) =>
    api.call('POST', '/v1/topics/orders.fifo/messages', { body, headers })
  const refused = await send({
    messages: [
      { message: 'x', groupId: 'g' },
      { message: 'y', deduplicationId: 'd' },
    ],
  })
  expect([refused.status, refused.body.error.details.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    ['messages[0].deduplicationId', 'messages[1].groupId'],
  ])
  const message = { message: 'x', groupId: 'g', deduplicationId: 'd' }
  const first = await send(message)
  expect(first.body).toEqual({
    messageId: expect.any(String),
    sequenceNumber: expect.stringMatching(/^\d{20}$/),
  })
  expect((await send(message)).body).toEqual(first.body)
  const batch = await send({ messages: [message, { ...message, deduplicationId: 'e' }] })
  expect(batch.body.results[0]).toEqual(first.body)
  expect(batch.body.results[1].sequenceNumber > first.body.sequenceNumber).toBe(true)
  const headers = { 'Idempotency-Key': 'k' }
  const once = await send({ ...message, deduplicationId: 'f' }, headers)
  const replayed = await send({ ...message, deduplicationId: 'f' }, headers)
  expect([replayed.body, replayed.headers.get('idempotent-replayed')]).toEqual([once.body, 'true'])
  const other = await send({ ...message, deduplicationId: 'g' }, headers)
  expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_mismatch'])
})

test('a FIFO topic that makes ids from texts needs none', async () => {
  await api.deps.topics.put('arn:aws:sns:us-east-1:000000000000:content.fifo', {
    contentBasedDeduplication: true,
  })
  const send = (attributes: object) =>
    api.call('POST', '/v1/topics/content.fifo/messages', { body: { message: 'x', groupId: 'g', attributes } })
  expect((await send({ a: 'b' })).body).toEqual((await send({ a: 'c' })).body)
})
