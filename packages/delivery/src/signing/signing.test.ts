import { verify, X509Certificate } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Envelope, queueBody, renderBody } from '../envelope/envelope.ts'
import type { EndpointTarget } from '../envelope/target.ts'
import { type SignatureVersion, signatureVersionOf } from './signer.ts'
import {
  createMemoryPairs,
  createSigning,
  envelopeOf,
  SUBSCRIPTION_ARN,
  TOPIC,
  targetOf,
  topicOf,
} from './signing.fixture.ts'
import { createSigningPair, type SigningPair } from './signing-pair.ts'

let pair: SigningPair
beforeAll(async () => {
  pair = await createSigningPair()
})

async function signed(
  envelope: Envelope,
  target: EndpointTarget = targetOf(),
): Promise<Record<string, string>> {
  await createSigning(createMemoryPairs(pair)).prepare(envelope, target)
  return JSON.parse(renderBody(envelope, target).toString())
}

/** Verifies by AWS's rule alone: the named members that are present, each with its value as JSON decodes it. */
function verifies(document: Record<string, string>, names: string[]): boolean {
  const text = names
    .filter((name) => name in document)
    .map((name) => `${name}\n${document[name]}\n`)
    .join('')
  const digest = document.SignatureVersion === '1' ? 'sha1' : 'sha256'
  const signature = Buffer.from(document.Signature ?? '', 'base64')
  return verify(digest, Buffer.from(text), new X509Certificate(pair.certificate).publicKey, signature)
}

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

describe('the signature of a notification', () => {
  test.each<[SignatureVersion, string]>([
    ['1', 'sha1'],
    ['2', 'sha256'],
  ])('[67] with version %s is over %s', async (version, digest) => {
    const document = await signed(envelopeOf({ subject: 'S' }, version))
    expect(document.SignatureVersion).toBe(version)
    const text = `Message\nhello\nMessageId\n${document.MessageId}\nSubject\nS\nTimestamp\n2026-01-02T03:04:05.678Z\nTopicArn\n${TOPIC}\nType\nNotification\n`
    const { publicKey } = new X509Certificate(pair.certificate)
    const signature = Buffer.from(document.Signature ?? '', 'base64')
    expect(verify(digest, Buffer.from(text), publicKey, signature)).toBe(true)
    expect(verify(digest, Buffer.from(text.replace('hello', 'hallo')), publicKey, signature)).toBe(false)
  })

  test('[68] covers text, ids, time, topic and type, and the subject only where there is one', async () => {
    const text = 'zwölf\n"Boxkämpfer"\t\u2028 \u{1f600}'
    const attributes = { size: { type: 'Number', value: '3' } }
    const bare = await signed(envelopeOf({ message: text, attributes }))
    expect('Subject' in bare).toBe(false)
    expect(verifies(bare, NOTIFICATION)).toBe(true)
    const titled = await signed(envelopeOf({ message: text, subject: '' }))
    expect(titled.Subject).toBe('')
    expect(verifies(titled, NOTIFICATION)).toBe(true)
    expect(verifies(titled, NOTIFICATION.toSpliced(2, 1))).toBe(false)
  })

  test('[68] stands where AWS has it, and its URL names the certificate', async () => {
    const document = await signed(
      envelopeOf({ subject: 'S', attributes: { a: { type: 'String', value: 'b' } } }),
    )
    expect(Object.keys(document)).toEqual([
      'Type',
      'MessageId',
      'TopicArn',
      'Subject',
      'Message',
      'Timestamp',
      'SignatureVersion',
      'Signature',
      'SigningCertURL',
      'UnsubscribeURL',
      'MessageAttributes',
    ])
    expect(document.SigningCertURL).toMatch(
      /^https:\/\/sns\.example\.com\/SimpleNotificationService-[0-9a-f]{32}\.pem$/,
    )
  })

  test('is made again byte by byte the same', async () => {
    const envelope = envelopeOf({})
    const again = envelopeOf(envelope.message)
    expect((await signed(again)).Signature).toBe((await signed(envelope)).Signature)
  })
})

describe('the signature of a confirmation', () => {
  const token = 'ab'.repeat(144)

  test('[69] SubscriptionConfirmation covers link and token too', async () => {
    const document = await signed(envelopeOf({ kind: 'SubscriptionConfirmation', token }))
    expect(verifies(document, CONFIRMATION)).toBe(true)
    expect(verifies(document, [...NOTIFICATION, 'Token'])).toBe(false)
  })

  test('[69][71] UnsubscribeConfirmation is signed for the text that its subscription gets', async () => {
    const document = await signed(envelopeOf({ kind: 'UnsubscribeConfirmation', token }))
    expect(document.Message).toContain(SUBSCRIPTION_ARN)
    expect(verifies(document, CONFIRMATION)).toBe(true)
  })

  test('is there for a raw subscription as well', async () => {
    const document = await signed(
      envelopeOf({ kind: 'SubscriptionConfirmation', token }),
      targetOf('https', true),
    )
    expect(verifies(document, CONFIRMATION)).toBe(true)
  })
})

describe('messages are signed for topics that sign', () => {
  test('[73] a FIFO topic is not, and its envelopes have a sequence number', () => {
    expect(signatureVersionOf(topicOf({ fifo: true, attributes: { SignatureVersion: '2' } }))).toBeUndefined()
    const envelope = envelopeOf({ sequenceNumber: '10000000000000000000' })
    envelope.signatureVersion = undefined
    const document = JSON.parse(renderBody(envelope, targetOf('sqs')).toString())
    expect(document.SequenceNumber).toBe('10000000000000000000')
    expect(Object.keys(document).filter((name) => name.startsWith('Sign'))).toEqual([])
  })

  test('[67] a topic of the AWS API is, by version 1 until it asks for 2', () => {
    expect(signatureVersionOf(topicOf({}))).toBe('1')
    expect(signatureVersionOf(topicOf({ attributes: { SignatureVersion: '2' } }))).toBe('2')
    expect(
      signatureVersionOf(topicOf({ signing: 'none', attributes: { SignatureVersion: '2' } })),
    ).toBeUndefined()
  })

  test('raw deliveries carry none and wait for none', () => {
    const envelope = envelopeOf({})
    const target = targetOf('https', true)
    expect(createSigning(createMemoryPairs(pair)).prepare(envelope, target)).toBeUndefined()
    expect(renderBody(envelope, target).toString()).toBe('hello')
  })

  test('nothing is rendered unsigned by mistake', () => {
    expect(() => renderBody(envelopeOf({}), targetOf())).toThrow('not signed')
    expect(() => queueBody(envelopeOf({}), targetOf('sqs'), 'q')).toThrow('not signed')
  })
})

describe('signatures of one message', () => {
  test('are one for all its deliveries', async () => {
    const envelope = envelopeOf({})
    const signing = createSigning(createMemoryPairs(pair))
    const waits = [signing.prepare(envelope, targetOf()), signing.prepare(envelope, targetOf('sqs'))]
    expect(waits[0]).toBe(waits[1])
    await Promise.all(waits)
    expect(signing.prepare(envelope, targetOf('http'))).toBeUndefined()
  })

  test('are one for each distinct text of structure json', async () => {
    const texts = { default: 'all', http: 'all', https: 'web', sqs: 'queue' }
    const envelope = envelopeOf({ structure: 'json', message: JSON.stringify(texts) })
    const documents = await Promise.all(
      (['http', 'https', 'sqs'] as const).map((protocol) => signed(envelope, targetOf(protocol))),
    )
    expect(documents.map(({ Message }) => Message)).toEqual(['all', 'web', 'queue'])
    for (const document of documents) expect(verifies(document, NOTIFICATION)).toBe(true)
    expect(new Set(documents.map(({ Signature }) => Signature)).size).toBe(3)
    const same = envelopeOf({ structure: 'json', message: '{"default":"all"}' })
    const signing = createSigning(createMemoryPairs(pair))
    expect(signing.prepare(same, targetOf('http'))).toBe(signing.prepare(same, targetOf('sqs')))
  })
})
