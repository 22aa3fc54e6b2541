/** Topics and queues that seal their messages, as callers of the API see them. */
import { type Message, parseMessageId } from '@fantail/contracts'
import { bodySealsOf } from '@fantail/delivery'
import { countSealedTexts, KeptMessages, messageBody, openMessage, Queues, sealMessage } from '@fantail/store'
import {
  createMasterKeyText,
  createVault,
  masterKeyBytes,
  parseMasterKey,
  sealingKeyOf,
  type Vault,
  WrappedKey,
} from '@fantail/vault'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith, type TestKey } from '../auth/keys.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'
import { storedText as portalText } from '../portal/portal-messages.ts'

const CANARY = 'canary-0b9e'
const ARN = 'arn:aws:sns:us-east-1:000000000000:'
let api: TestApi
let admin: TestKey

beforeAll(async () => {
  api = await startTestApi({ auth: true })
  admin = await keyWith(api, ['publish', 'read', 'manage', 'redrive', 'bodies', 'consume'])
})
afterAll(() => api.stop())

const sealing = { body: { sealMessages: true } }

/** Runs the work as if this process had no master key, or this vault. */
async function withoutKey(work: () => Promise<void>, other?: Vault): Promise<void> {
  const { vault, seals, queues } = api.deps
  api.deps.vault = other
  api.deps.seals = bodySealsOf(other)
  api.deps.queues = new Queues(api.redis, { seals: api.deps.seals })
  try {
    await work()
  } finally {
    Object.assign(api.deps, { vault, seals, queues })
  }
}

async function publishedTo(topic: string): Promise<Message[]> {
  return (await api.published()).filter(({ topicArn }) => topicArn === ARN + topic)
}

async function storedText(): Promise<string> {
  const keys = await api.redis.keysBuffer('*')
  const dumps = await Promise.all(keys.map((key) => api.redis.dumpBuffer(key)))
  return Buffer.concat(dumps.filter((dump) => dump !== null)).toString('latin1')
}

test('a topic seals what is published to it, alone, in a batch and with a key of idempotency', async () => {
  expect((await admin.call('PUT', '/v1/topics/orders', sealing)).body).toMatchObject({ sealMessages: true })
  const message = { message: CANARY, subject: CANARY, attributes: { name: CANARY } }
  const publish = (body: object, headers = {}) =>
    admin.call('POST', '/v1/topics/orders/messages', { body, headers })
  expect((await publish(message)).status).toBe(202)
  expect((await publish({ messages: [message] })).status).toBe(202)
  const once = { 'Idempotency-Key': 'k' }
  const first = await publish(message, once)
  expect((await publish(message, once)).body).toEqual(first.body)
  const stored = await publishedTo('orders')
  expect(stored.map(({ message, subject }) => [message, subject])).toEqual(Array(3).fill(['', undefined]))
  for (const one of stored)
    expect(openMessage(api.deps.seals, one)).toMatchObject({ message: CANARY, subject: CANARY })
  expect(await storedText()).not.toContain(CANARY)
})

test('a FIFO topic compares the texts of sealed messages, and does not show them', async () => {
  const body = { sealMessages: true, contentBasedDeduplication: true }
  await admin.call('PUT', '/v1/topics/orders.fifo', { body })
  const message = { message: CANARY, groupId: 'g' }
  const publish = () => admin.call('POST', '/v1/topics/orders.fifo/messages', { body: message })
  const first = await publish()
  expect((await publish()).body).toMatchObject({ messageId: first.body.messageId })
  expect(await storedText()).not.toContain(CANARY)
})

test('[408] the name of a KMS key on a topic seals too', async () => {
  await api.deps.topics.put(`${ARN}kms`, { attributes: { KmsMasterKeyId: 'alias/aws/sns' } })
  await admin.call('POST', '/v1/topics/kms/messages', { body: { message: CANARY } })
  expect(await publishedTo('kms')).toMatchObject([{ message: '', sealed: expect.any(String) }])
})

test('without a master key publishing answers 503, and sealing cannot be asked for', async () => {
  await withoutKey(async () => {
    const refused = await admin.call('POST', '/v1/topics/orders/messages', { body: { message: 'x' } })
    expect([refused.status, refused.body.error]).toEqual([
      503,
      expect.objectContaining({
        code: 'key_unavailable',
        message: expect.stringContaining('FANTAIL_MASTER_KEY'),
      }),
    ])
    for (const path of ['topics/other', 'queues/other']) {
      const { status, body } = await admin.call('PUT', `/v1/${path}`, sealing)
      expect([status, body.error.code]).toEqual([400, 'not_supported'])
    }
  })
})

test('until a key service has unwrapped the key, what seals answers 503, and then works without a restart', async () => {
  const text = createMasterKeyText()
  const id = parseMasterKey(text)?.id ?? ''
  const key = new WrappedKey(id, { service: 'vault', name: 'transit/fantail' }, 'v1:')
  const publish = () => admin.call('POST', '/v1/topics/orders/messages', { body: { message: CANARY } })
  const body = { endpoint: 'https://user:secret@hooks.example.com/' }
  const subscribe = () => admin.call('POST', '/v1/topics/orders/subscriptions', { body })
  const before = (await publishedTo('orders')).length
  await withoutKey(
    async () => {
      for (const refused of [await publish(), await subscribe()]) {
        const message = expect.stringContaining(`vault has not unwrapped master key ${id} yet`)
        expect([refused.status, refused.body.error]).toEqual([
          503,
          expect.objectContaining({ code: 'key_unavailable', message }),
        ])
      }
      expect(await publishedTo('orders')).toHaveLength(before)
      key.unlock(masterKeyBytes(text) ?? Buffer.alloc(0))
      expect([(await publish()).status, (await subscribe()).status]).toEqual([202, 201])
    },
    createVault([key]),
  )
})

test('the texts of each key are counted in jobs and queues', async () => {
  const count = async () => (await countSealedTexts(api.redis, sealingKeyOf)).get(api.deps.vault?.keyId ?? '')
  const before = (await count()) ?? 0
  await admin.call('POST', '/v1/topics/orders/messages', { body: { message: CANARY } })
  await admin.call('PUT', '/v1/queues/counted', sealing)
  await admin.call('POST', '/v1/queues/counted/messages', { body: { body: CANARY } })
  await admin.call('POST', '/v1/topics/open/messages', { body: { message: '"sealed":"AAAAAAAA"' } })
  expect(await count()).toBe(before + 2)
})

test('a kept message is shown, found and tried on filters, with the scope for bodies only', async () => {
  const keepMessages = { seconds: 3_600, bytes: 1_048_576 }
  await admin.call('PUT', '/v1/topics/kept', { body: { sealMessages: true, keepMessages } })
  const text = JSON.stringify({ canary: CANARY })
  await admin.call('POST', '/v1/topics/kept/messages', { body: { message: text } })
  const [stored] = await publishedTo('kept')
  if (!stored) throw new Error('nothing was published')
  const { messageId, topicArn: arn } = stored
  const uid = (await api.deps.topics.get(arn))?.uid ?? ''
  const id = parseMessageId(messageId) ?? Buffer.alloc(0)
  await new KeptMessages(api.redis).keep([{ arn, uid, id, body: messageBody(stored) }])
  const bodyOf = (key: TestKey) => key.call('GET', `/v1/messages/${messageId}/body`)
  expect((await bodyOf(admin)).body).toMatchObject({ message: text, from: 'kept' })
  expect((await bodyOf(await keyWith(api, ['read']))).status).toBe(403)
  const found = await admin.call('GET', `/v1/search/kept-messages?text=${CANARY}`)
  expect(found.body.messages).toMatchObject([{ messageId, foundIn: 'message' }])
  const replay = {
    topic: 'kept',
    last: 10,
    filterPolicyScope: 'MessageBody',
    filterPolicy: { canary: [CANARY] },
  }
  expect((await admin.call('POST', '/v1/filter-policies/replay', { body: replay })).body).toMatchObject({
    tried: 1,
    matched: 1,
  })
  await withoutKey(async () => {
    const { status, body } = await bodyOf(admin)
    expect([status, body.error.code]).toEqual([503, 'key_unavailable'])
  })
})

test('a queue seals what is sent to it, and opens it for receivers', async () => {
  await admin.call('PUT', '/v1/queues/work', sealing)
  const item = { body: CANARY, attributes: { name: { type: 'String', value: CANARY } } }
  await admin.call('POST', '/v1/queues/work/messages', { body: { messages: [item, item] } })
  expect(await storedText()).not.toContain(CANARY)
  const looked = await admin.call('GET', '/v1/queues/work/messages')
  expect(looked.body.messages).toMatchObject(Array(2).fill(item))
  const received = await admin.call('POST', '/v1/queues/work/receive', { body: { maxMessages: 10 } })
  expect(received.body.messages).toMatchObject(Array(2).fill(item))
  const receiptHandles = received.body.messages.map((one: { receiptHandle: string }) => one.receiptHandle)
  await admin.call('POST', '/v1/queues/work/ack', { body: { receiptHandles } })
})

test('an edit is sealed if its queue or its destination seals', async () => {
  await admin.call('PUT', '/v1/queues/plain', {})
  await admin.call('PUT', '/v1/queues/vaulted', sealing)
  for (const [from, destination] of [
    ['plain', 'vaulted'],
    ['vaulted', 'plain'],
  ] as const) {
    const sent = await api.deps.queues.send(`${ARN.replace('sns', 'sqs')}${from}`, [{ body: 'before' }])
    const path = `/v1/queues/${from}/messages/${sent[0]?.messageId}/redrive`
    const redriven = await admin.call('POST', path, { body: { message: CANARY, destination } })
    expect([from, redriven.status]).toEqual([from, 202])
    const { edit } = (await api.deps.redrives.get(redriven.body.id)) ?? {}
    expect(edit).toMatchObject({ body: '', payload: expect.stringMatching('^{"z":') })
  }
})

test('without the key views of a queue show neither size nor digest of a sealed text', async () => {
  await admin.call('PUT', '/v1/queues/viewed', sealing)
  await admin.call('PUT', '/v1/queues/plain', {})
  const item = { body: CANARY }
  await admin.call('POST', '/v1/queues/viewed/messages', { body: { messages: [item] } })
  await withoutKey(async () => {
    const { body } = await admin.call('GET', '/v1/queues/viewed/messages')
    const [message] = body.messages
    expect(message).toMatchObject({ body: null, bodyBytes: null, bodySha256: null })
    const path = `/v1/queues/viewed/messages/${message.messageId}/redrive`
    const redriven = await admin.call('POST', path, { body: { destination: 'plain' } })
    expect(redriven.body).toMatchObject({ originalSha256: null, editedSha256: null })
  })
})

test('the portal opens the text of a dead letter, and shows none without the key', async () => {
  const sent = { messageId: 'm', topicArn: `${ARN}orders`, publishedAt: 1, message: CANARY }
  const letter = { message: sealMessage(api.deps.seals, sent) }
  type Asked = Parameters<typeof portalText>
  const read = () => portalText(api.deps, {} as Asked[1], { letter } as Asked[2])
  expect((await read())?.message).toBe(CANARY)
  await withoutKey(() => expect(read()).rejects.toMatchObject({ code: 'key_unavailable' }))
})

test('two sealed items that were exchanged are quarantined, and not received', async () => {
  await admin.call('PUT', '/v1/queues/mixed', sealing)
  const messages = [{ body: 'one' }, { body: 'two' }, { body: 'three' }]
  const sent = await admin.call('POST', '/v1/queues/mixed/messages', { body: { messages } })
  const [first, second] = await Promise.all(
    sent.body.results.slice(0, 2).map(async ({ messageId }: { messageId: string }) => {
      const [key = ''] = await api.redis.keys(`*:i:${messageId}`)
      return { key, payload: (await api.redis.hget(key, 'p')) ?? '' }
    }),
  )
  await api.redis.hset(first.key, 'p', second.payload)
  await api.redis.hset(second.key, 'p', first.payload)
  const received = await admin.call('POST', '/v1/queues/mixed/receive', { body: { maxMessages: 10 } })
  expect(received.body.messages.map(({ body }: { body: string }) => body)).toEqual(['three'])
  const { items } = await (api.deps.quarantine as TestApi['deps']['quarantine']).list({ limit: 10 })
  expect(items.map(({ reason }) => reason)).toEqual(['queueMessageUnreadable', 'queueMessageUnreadable'])
})
