import { randomInt } from 'node:crypto'
import { createMessageId, type Message } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { KEYLESS, testSeals } from './body-seals.fixture.ts'
import { bodiesOfJob, jobText, messageBody, readContent, readMessage } from './message-bodies.ts'
import { isSealed, openMessage, SealedWhenStored, SealKeyError, sealMessage } from './sealed-messages.ts'
import { UnreadableRecordError } from './stored-json.ts'

const FLIPS = 10_000
const CANARY = 'canary-7f3a'
const seals = testSeals()

function aMessage(set: Partial<Message> = {}): Message {
  const messageId = createMessageId(1)
  const attributes = { [CANARY]: { type: 'String', value: CANARY } }
  const content = { message: `text ${CANARY}`, subject: CANARY, attributes, publicUrl: 'http://own' }
  return { messageId, topicArn: 'arn', publishedAt: 1, ...content, ...set }
}

test('a sealed message opens to the same message, and its stored forms show nothing of the content', () => {
  const message = aMessage({ groupId: 'g', deduplicationId: 'd', topicUid: 'u' })
  const sealed = sealMessage(seals, message)
  const body = messageBody({ ...sealed, sequenceNumber: '10000000000000000001' })
  expect([body, jobText([sealed])].join()).not.toContain(CANARY)
  expect(readMessage(body)).toMatchObject({ messageId: message.messageId, groupId: 'g', message: '' })
  expect(readContent(body, seals)).toEqual({ ...message, sequenceNumber: '10000000000000000001' })
})

test.each(['', '\n', 'two\nlines', '{"a":"b"}\n{}', 'é €', 'half \ud800 of a pair'])(
  'a sealed text opens to the same text: %j',
  (text) => {
    for (const rest of [{}, { subject: undefined, attributes: {} }]) {
      const message = { ...aMessage(rest), message: text }
      expect(openMessage(seals, sealMessage(seals, message))).toEqual(message)
    }
  },
)

test('a message that a job takes unsealed is sealed there, and refused before without a key', () => {
  const message = aMessage({ groupId: 'g' })
  const text = jobText([new SealedWhenStored(seals, message), aMessage({ subject: 'open' })])
  expect(text.split(CANARY)).toHaveLength(jobText([aMessage({ subject: 'open' })]).split(CANARY).length)
  expect(readContent(bodiesOfJob(text)[0] ?? '', seals)).toEqual(message)
  expect(() => new SealedWhenStored(KEYLESS, message)).toThrow(SealKeyError)
})

test('an opened message is stored as it was sealed, and one that is not sealed stays as it is', () => {
  const plain = aMessage()
  expect([openMessage(seals, plain), isSealed(plain)]).toEqual([plain, false])
  const body = messageBody(sealMessage(seals, plain))
  const opened = readContent(body, seals)
  expect([messageBody(opened), isSealed(opened), opened.sealed]).toEqual([body, true, undefined])
  expect(sealMessage(seals, opened)).toEqual(readMessage(body))
})

test('a sealed text does not open in another message, and no member that stays readable can be changed', () => {
  const sealed = sealMessage(seals, aMessage({ groupId: 'g' }))
  const other = sealMessage(seals, aMessage({ groupId: 'g' }))
  const changes: Partial<Message>[] = [
    { sealed: other.sealed },
    { messageId: other.messageId },
    { topicArn: 'arn2' },
    { topicUid: 'u' },
    { publishedAt: 2 },
    { groupId: 'h' },
    { deduplicationId: 'd' },
    { kind: 'SubscriptionConfirmation' },
    { idempotency: { key: 'k', value: 'v' } },
  ]
  for (const change of changes)
    expect(() => openMessage(seals, { ...sealed, ...change }), JSON.stringify(change)).toThrow(
      UnreadableRecordError,
    )
})

test('no stored body with a flipped bit is read', () => {
  const body = Buffer.from(messageBody(sealMessage(seals, aMessage())))
  let read = 0
  for (let flip = 0; flip < FLIPS; flip++) {
    const changed = Buffer.from(body)
    const at = randomInt(changed.length)
    changed[at] = (changed[at] ?? 0) ^ (1 << randomInt(8))
    try {
      readContent(changed, seals)
      read++
    } catch (error) {
      expect(error).toBeInstanceOf(UnreadableRecordError)
    }
  }
  expect(read).toBe(0)
})

test('a sealed text that is no text was changed, and no key is missing', () => {
  const damaged = { ...sealMessage(seals, aMessage()), sealed: 5 as unknown as string }
  expect(() => openMessage(seals, damaged)).toThrow(UnreadableRecordError)
})

test('without the key a message is neither sealed nor opened, and the error says so', () => {
  const sealed = sealMessage(seals, aMessage())
  expect(() => openMessage(KEYLESS, sealed)).toThrow(SealKeyError)
  expect(() => sealMessage(KEYLESS, aMessage())).toThrow('cannot be sealed or opened: there is no key')
  expect(new SealKeyError('x').status).toBe(503)
})
