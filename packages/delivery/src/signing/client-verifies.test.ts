/** Which signed requests @fantail/client accepts, and which it refuses. */
import { VerifyError, verifySnsMessage, verifyWebhook } from '@fantail/client'
import { createAuthority } from '@fantail/test-kit'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { beforeAll, describe, expect, test } from 'vitest'
import { compileEnvelope, type Envelope, renderBody } from '../envelope/envelope.ts'
import { createMemoryPairs, createSigning, envelopeOf, TOPIC, targetOf } from './signing.fixture.ts'
import { createSigningPair, type SigningPair } from './signing-pair.ts'
import { createWebhookKey, WebhookSigner } from './standard-webhooks.ts'

const masterKey = parseMasterKey(createMasterKeyText())
const vault = masterKey && createVault([masterKey])

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error) => (error instanceof VerifyError ? error.code : error),
  )

/** Headers and the body of a delivery as the worker sends it. */
function delivery(algorithm: 'hmac-sha256' | 'ed25519', { raw = false, now = Date.now() } = {}) {
  const made = createWebhookKey({ subscriptionId: 's', algorithm, now }, vault)
  const { message } = envelopeOf({
    message: '{"order":7}',
    subject: 'S',
    attributes: { n: { type: 'Number', value: '1' } },
  })
  const envelope = compileEnvelope(message, { publicUrl: 'https://sns.example.com' })
  const { messageId } = message
  const body = renderBody(envelope, targetOf('https', raw)).toString()
  const flat = new WebhookSigner('s', [made.key]).headers({ messageId, now, body }, vault)
  const headers: Record<string, string> = raw ? { 'X-Amz-Sns-RawDelivery': 'true' } : {}
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? ''
  return { headers, body, messageId, key: made.secret ?? made.key.publicKey ?? '' }
}

describe('verifyWebhook', () => {
  test.each(['hmac-sha256', 'ed25519'] as const)(
    'accepts %s, in any form of a request',
    async (algorithm) => {
      const { headers, body, messageId, key } = delivery(algorithm)
      const event = {
        type: 'Notification',
        messageId,
        topicArn: TOPIC,
        subject: 'S',
        message: '{"order":7}',
        attributes: { n: { type: 'Number', value: '1' } },
      }
      const options = { keys: ['whsec_b3RoZXI=', key] }
      const request = new Request('http://localhost/in', { method: 'POST', headers, body })
      expect(await verifyWebhook(request, options)).toMatchObject(event)
      expect(await verifyWebhook({ headers, body: Buffer.from(body) }, options)).toMatchObject(event)
      expect(await verifyWebhook({ headers: new Headers(headers), body }, options)).toMatchObject(event)
    },
  )

  test('gives a raw message as it came, without what is not signed', async () => {
    const { headers, body, messageId, key } = delivery('hmac-sha256', { raw: true })
    const signed = { ...headers, 'x-amz-sns-topic-arn': 'arn:made-up' }
    expect(await verifyWebhook({ headers: signed, body }, { keys: [key] })).toMatchObject({
      messageId,
      message: '{"order":7}',
      topicArn: undefined,
      envelope: undefined,
    })
  })

  test.each<[string, (given: ReturnType<typeof delivery>) => Partial<ReturnType<typeof delivery>>]>([
    ['no_matching_signature', ({ body }) => ({ body: body.replace('7', '8') })],
    ['no_matching_signature', ({ headers }) => ({ headers: { ...headers, 'webhook-id': 'other' } })],
    ['no_matching_signature', () => ({ key: delivery('hmac-sha256').key })],
    ['no_matching_signature', ({ headers }) => ({ headers: { ...headers, 'webhook-signature': 'v1,!' } })],
    [
      'no_matching_signature',
      ({ key, headers }) => ({ key, headers: { ...headers, 'webhook-signature': 'v2,AA==' } }),
    ],
    ['missing_header', ({ headers }) => ({ headers: { ...headers, 'webhook-signature': '' } })],
    ['wrong_timestamp', ({ headers }) => ({ headers: { ...headers, 'webhook-timestamp': '1e9' } })],
    ['too_old', () => delivery('hmac-sha256', { now: Date.now() - 301_000 })],
    ['too_old', () => delivery('hmac-sha256', { now: Date.now() + 320_000 })],
    ['wrong_key', () => ({ key: 'whsec_' })],
    ['wrong_key', () => ({ key: 'whpk_AAAA' })],
    ['wrong_key', () => ({ key: 'b3RoZXI=' })],
  ])('refuses with %s', async (code, change) => {
    const given = delivery('hmac-sha256')
    const { key, ...request } = { ...given, ...change(given) }
    expect(await refusal(verifyWebhook(request, { keys: [key] }))).toBe(code)
  })

  test('refuses a raw message that is passed off as an envelope', async () => {
    const inner = delivery('hmac-sha256')
    const now = Date.now()
    const made = createWebhookKey({ subscriptionId: 's', algorithm: 'hmac-sha256', now }, vault)
    const flat = new WebhookSigner('s', [made.key]).headers(
      { messageId: 'outer', now, body: inner.body },
      vault,
    )
    const headers = Object.fromEntries([0, 2, 4].map((at) => [flat[at], flat[at + 1]]))
    const call = verifyWebhook({ headers, body: inner.body }, { keys: [made.secret ?? ''] })
    expect(await refusal(call)).toBe('wrong_body')
  })

  test('refuses an empty list of keys and a body that was read', async () => {
    const { headers, body, key } = delivery('hmac-sha256')
    expect(await refusal(verifyWebhook({ headers, body }, { keys: [] }))).toBe('wrong_key')
    const request = new Request('http://localhost/in', { method: 'POST', headers, body })
    await request.text()
    expect(await refusal(verifyWebhook(request, { keys: [key] }))).toBe('wrong_body')
  })
})

describe('verifySnsMessage', () => {
  let pair: SigningPair
  beforeAll(async () => {
    pair = await createSigningPair()
  })

  const signed = async (envelope: Envelope) => {
    const target = targetOf()
    await createSigning(createMemoryPairs(pair)).prepare(envelope, target)
    return JSON.parse(renderBody(envelope, target).toString()) as Record<string, string>
  }
  const asked: string[] = []
  const serving = (text: string, status = 200) =>
    (async (url: string) => {
      asked.push(url)
      return new Response(text, { status })
    }) as unknown as typeof fetch
  const check = (
    document: unknown,
    options: { certificate?: string; status?: number; topicArns?: string[] } = {},
  ) => {
    const { certificate = pair.certificate, status, topicArns = [TOPIC] } = options
    const fetch = serving(certificate, status)
    return verifySnsMessage(JSON.stringify(document), { hosts: ['sns.example.com'], topicArns, fetch })
  }

  test.each(['1', '2'] as const)('accepts version %s, and asks for a certificate once', async (version) => {
    const document = await signed(envelopeOf({ subject: 'S' }, version))
    const before = asked.length
    expect(await check(document)).toMatchObject({ message: 'hello', subject: 'S', topicArn: TOPIC })
    await check(document)
    expect(asked.length - before).toBeLessThanOrEqual(1)
  })

  test('refuses other hosts, other topics, other versions and changed messages', async () => {
    const document = await signed(envelopeOf({}))
    for (const SignatureVersion of ['3', 'constructor', '__proto__'])
      expect(await refusal(check({ ...document, SignatureVersion }))).toBe('no_matching_signature')
    const from = (url: string) => refusal(check({ ...document, SigningCertURL: url }))
    const path = new URL(document.SigningCertURL ?? '').pathname
    const before = asked.length
    for (const url of [
      `https://evil.example.com${path}`,
      `http://sns.example.com${path}`,
      `https://sns.example.com:8443${path}`,
      `https://sns.example.com@evil.example.com${path}`,
      `https://sns.example.com/other.pem`,
      `https://sns.example.com${path}?x`,
      'none',
    ]) {
      expect([url, await from(url)]).toEqual([url, 'wrong_certificate'])
    }
    expect(asked.length).toBe(before)
    expect(await refusal(check(document, { topicArns: ['arn:other'] }))).toBe('wrong_topic')
    expect(await refusal(check({ ...document, Message: 'hallo' }))).toBe('no_matching_signature')
    expect(await refusal(check({ ...document, Signature: undefined }))).toBe('no_matching_signature')
    expect(await refusal(check({ Type: 'Other' }))).toBe('wrong_body')
  })

  test('refuses certificates that cannot be loaded, are none, or have another key', async () => {
    const document = await signed(envelopeOf({}))
    const at = (n: number) => ({
      ...document,
      SigningCertURL: `https://sns.example.com/SimpleNotificationService-${String(n).repeat(32)}.pem`,
    })
    expect(await refusal(check(at(1), { status: 404 }))).toBe('wrong_certificate')
    expect(await refusal(check(at(2), { certificate: 'none' }))).toBe('wrong_certificate')
    const cut = pair.certificate.replace(/\n[^\n]+\n[^\n]+\n-----END/, '\n-----END')
    expect(await refusal(check(at(3), { certificate: cut }))).toBe('wrong_certificate')
    const { certificate } = await createSigningPair()
    expect(await refusal(check(at(4), { certificate }))).toBe('no_matching_signature')
    expect(await refusal(check(at(5), { certificate: createAuthority().cert }))).not.toBe('accepted')
  })
})
