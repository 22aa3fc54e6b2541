import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { WebhookAlgorithm } from '@fantail/contracts'
import { createMasterKeyText, createVault, parseMasterKey } from '@fantail/vault'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import { createWebhookKey, WebhookSigner, webhookSignerOf } from './standard-webhooks.ts'

const masterKey = parseMasterKey(createMasterKeyText())
const vault = masterKey && createVault([masterKey])
const subscriptionId = '000b1478-1b20-8eb5-9000-0abada1c0c5f'
const messageId = '0199f3a0-0000-7000-8000-000000000001'
const now = Date.now()

function newKey(algorithm: WebhookAlgorithm, secret?: string) {
  return createWebhookKey({ subscriptionId, algorithm, secret, now }, vault)
}

function signed(signer: WebhookSigner, body: string, at = now): Record<string, string> {
  const list = signer.headers({ messageId, now: at, body: Buffer.from(body) }, vault)
  const pairs = Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]])
  return Object.fromEntries(pairs)
}

function verifiesByPublicKey(text: string, headers: Record<string, string>, body: string): boolean {
  const x = Buffer.from(text.slice('whpk_'.length), 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
  const given = (headers['webhook-signature'] ?? '').split(' ').filter((one) => one.startsWith('v1a,'))
  return given.some((one) => verify(null, content, key, Buffer.from(one.slice(4), 'base64')))
}

describe('an HMAC', () => {
  const { key, secret = '' } = newKey('hmac-sha256')
  const signer = new WebhookSigner(subscriptionId, [key])

  test('is what the public library makes of it, whatever the body', () => {
    for (const body of ['{"a":1}', '', 'é😀\u0000', 'x'.repeat(100_000)]) {
      const expected = new Webhook(secret).sign(messageId, new Date(now), body)
      expect(signed(signer, body)['webhook-signature']).toBe(expected)
    }
  })

  test('fails where body, id or time is another, or the secret is', () => {
    const headers = signed(signer, '{"a":1}')
    const refused = (secretGiven: string, body: string, set: object = {}) =>
      expect(() => new Webhook(secretGiven).verify(body, { ...headers, ...set })).toThrow()
    refused(secret, '{"a":2}')
    refused(secret, '{"a":1}', { 'webhook-id': 'other' })
    refused(secret, '{"a":1}', { 'webhook-timestamp': String(Math.floor(now / 1_000) + 1) })
    refused(newKey('hmac-sha256').secret ?? '', '{"a":1}')
    expect(new Webhook(secret).verify('{"a":1}', headers)).toEqual({ a: 1 })
  })

  test('has the message’s id on every attempt, and the attempt’s time', () => {
    const later = signed(signer, 'x', now + 90_000)
    expect(later['webhook-id']).toBe(messageId)
    expect(later['webhook-timestamp']).toBe(String(Math.floor((now + 90_000) / 1_000)))
  })

  test('may have a secret that the receiver chose', () => {
    const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const made = newKey('hmac-sha256', own)
    expect(made.secret).toBe(own)
    const headers = signed(new WebhookSigner(subscriptionId, [made.key]), '{}')
    expect(new Webhook(own).verify('{}', headers)).toEqual({})
  })
})

test('the library of Svix accepts its own headers alone, or those of Standard Webhooks alone', () => {
  // A server of Svix makes secrets of 24 bytes.
  const secret = `whsec_${randomBytes(24).toString('base64')}`
  const { key } = newKey('hmac-sha256', secret)
  const headersOf = (svixHeaders: boolean) => {
    const signer = webhookSignerOf({ id: subscriptionId, webhookKeys: [key], svixHeaders })
    return signer ? signed(signer, '{"a":1}') : {}
  }
  const own = Object.fromEntries(Object.entries(headersOf(true)).filter(([name]) => name.startsWith('svix-')))
  const standard = headersOf(false)
  expect([Object.keys(own), Object.keys(standard)]).toEqual(
    ['svix', 'webhook'].map((name) => [`${name}-id`, `${name}-timestamp`, `${name}-signature`]),
  )
  for (const headers of [own, standard]) {
    expect(() => new SvixWebhook(secret).verify('{"a":1}', headers)).not.toThrow()
    expect(() => new SvixWebhook(secret).verify('{"a":2}', headers)).toThrow('signature')
  }
})

test('an ed25519 signature verifies by the public key, which is all that is shown', () => {
  const { key, ...shown } = newKey('ed25519')
  expect(shown).toEqual({})
  expect(key.publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/)
  const headers = signed(new WebhookSigner(subscriptionId, [key]), '{"a":1}')
  expect(headers['webhook-signature']).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/)
  expect(verifiesByPublicKey(key.publicKey ?? '', headers, '{"a":1}')).toBe(true)
  expect(verifiesByPublicKey(key.publicKey ?? '', headers, '{"a":2}')).toBe(false)
})

test('while keys overlap both sign, and the replaced one stops at its time', () => {
  const old = newKey('hmac-sha256')
  const next = newKey('hmac-sha256')
  const asymmetric = newKey('ed25519')
  const ending = { ...old.key, expiresAt: now + 60_000 }
  const signer = new WebhookSigner(subscriptionId, [next.key, asymmetric.key, ending])
  const during = signed(signer, '{}')
  expect(during['webhook-signature']?.split(' ')).toHaveLength(3)
  for (const { secret = '' } of [old, next]) expect(new Webhook(secret).verify('{}', during)).toEqual({})
  expect(verifiesByPublicKey(asymmetric.key.publicKey ?? '', during, '{}')).toBe(true)
  const after = signed(signer, '{}', now + 60_000)
  expect(after['webhook-signature']?.split(' ')).toHaveLength(2)
})

test('nothing is signed by a key of another subscription, or without the master key', () => {
  const { key } = newKey('hmac-sha256')
  const request = { messageId, now, body: 'x' }
  expect(() => new WebhookSigner('other', [key]).headers(request, vault)).toThrow('sealed for something else')
  expect(() => new WebhookSigner(subscriptionId, [key]).headers(request, undefined)).toThrow(
    'FANTAIL_MASTER_KEY',
  )
  expect(() => createWebhookKey({ subscriptionId, algorithm: 'ed25519', now }, undefined)).toThrow(
    'FANTAIL_MASTER_KEY',
  )
  expect(JSON.stringify(key)).not.toContain('whsec_')
})

test('without keys there is nothing that signs', () => {
  expect(webhookSignerOf({ id: subscriptionId })).toBeUndefined()
  expect(webhookSignerOf({ id: subscriptionId, webhookKeys: [] })).toBeUndefined()
})

test('the code in docs/verify-webhooks.md verifies what is sent, and nothing else', async () => {
  const document = await readFile(new URL('../../../../docs/verify-webhooks.md', import.meta.url), 'utf8')
  const blocks = [...document.matchAll(/```js\n([\s\S]*?)\n```/g)].map(([, block]) => block ?? '')
  const source = `${blocks.find((block) => block.includes('function verified'))}\nexport { verified }`
  const { verified } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    verified: (headers: Record<string, string>, body: Buffer, secret: string) => boolean
  }
  const [hmac, pair] = [newKey('hmac-sha256'), newKey('ed25519')]
  const headers = signed(new WebhookSigner(subscriptionId, [hmac.key, pair.key]), '{"a":1}')
  for (const secret of [hmac.secret ?? '', pair.key.publicKey ?? '']) {
    expect(verified(headers, Buffer.from('{"a":1}'), secret)).toBe(true)
    expect(verified(headers, Buffer.from('{"a":2}'), secret)).toBe(false)
    expect(verified({ ...headers, 'webhook-id': 'x' }, Buffer.from('{"a":1}'), secret)).toBe(false)
    const old = signed(new WebhookSigner(subscriptionId, [hmac.key, pair.key]), '{"a":1}', now - 400_000)
    expect(verified(old, Buffer.from('{"a":1}'), secret)).toBe(false)
  }
})
