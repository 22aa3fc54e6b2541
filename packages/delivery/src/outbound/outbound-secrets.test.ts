import type { PushConsumerRecord } from '@fantail/contracts'
import { createMasterKeyText, createVault, parseMasterKey, type Vault } from '@fantail/vault'
import { describe, expect, test } from 'vitest'
import { hasCredentials, hideCredentials, maskCredentials } from './endpoint-credentials.ts'
import {
  keepOutbound,
  keepPushConsumer,
  NoVaultError,
  openOutbound,
  openPushConsumer,
  outboundContext,
} from './outbound-secrets.ts'

function newVault(): Vault {
  const key = parseMasterKey(createMasterKeyText())
  if (!key) throw new Error('a new key must be readable')
  return createVault([key])
}

describe('credentials in a URL', () => {
  test.each([
    ['https://user:pa%40ss@host.example/a@b?c=d@e', 'https://user:****@host.example/a@b?c=d@e'],
    ['https://user:p@ss:word@host/', 'https://user:****@host/'],
    ['HTTP://token@host', 'HTTP://****@host'],
    ['http://token:@host', 'http://****@host'],
    ['http://:password@host', 'http://:****@host'],
  ])('are hidden in %s', async (url, masked) => {
    const hidden = await hideCredentials(url)
    expect(hasCredentials(url)).toBe(true)
    expect(hidden).not.toMatch(/pa%40ss|p@ss|token|password/)
    expect(await hideCredentials(url)).toBe(hidden)
    expect([maskCredentials(hidden), maskCredentials(url)]).toEqual([masked, masked])
    expect(URL.parse(hidden)?.host).toBe(URL.parse(url)?.host)
  })

  test.each(['https://host.example/a@b', 'http://@host/', 'http://:@host/', 'arn:aws:sqs:us-east-1:0:q'])(
    'are missing in %s',
    async (url) => {
      expect(hasCredentials(url)).toBe(false)
      expect([await hideCredentials(url), maskCredentials(url)]).toEqual([url, url])
    },
  )

  test('make another endpoint if they differ, or stand in another URL', async () => {
    const urls = ['http://a:x@h/', 'http://a:y@h/', 'http://a:x@h/b', 'http://a:x@i/']
    const digests = await Promise.all(
      urls.map(async (url) => /~([^@]+)@/.exec(await hideCredentials(url))?.[1]),
    )
    expect(new Set(digests).size).toBe(urls.length)
  })
})

describe('the stored form of an endpoint', () => {
  const vault = newVault()
  const place = { topicArn: 'arn:aws:sns:us-east-1:000000000000:t', endpoint: 'https://u:~d@host/' }
  const reached = {
    url: 'https://u:secret-1@host/',
    proxy: 'http://p:secret-2@proxy:3128',
    clientCertificate: { certificate: 'CERTIFICATE', privateKey: 'secret-3' },
    ca: 'AUTHORITY',
    headers: { Authorization: 'secret-4', 'X-Two': 'secret-5' },
  }

  test('shows nothing of a secret, and is whole again when opened', () => {
    const kept = keepOutbound(reached, place, vault)
    expect(JSON.stringify(kept)).not.toContain('secret')
    expect(kept.outbound).toEqual({
      proxy: 'http://p:****@proxy:3128',
      certificate: 'CERTIFICATE',
      ca: 'AUTHORITY',
      headers: ['Authorization', 'X-Two'],
    })
    expect(openOutbound({ ...place, ...kept }, vault)).toEqual(reached)
  })

  test('needs no vault where nothing is secret', () => {
    const plain = { url: 'https://host/', proxy: 'http://proxy:3128', ca: 'AUTHORITY' }
    const kept = keepOutbound(plain, { ...place, endpoint: plain.url }, undefined)
    expect(kept).toEqual({ outbound: { proxy: plain.proxy, ca: plain.ca }, sealed: null })
    expect(openOutbound({ ...place, endpoint: plain.url, ...kept }, undefined)).toMatchObject(plain)
    expect(keepOutbound({ url: 'https://host/' }, place, undefined)).toEqual({ outbound: null, sealed: null })
  })

  test.each([
    { url: reached.url },
    { url: 'https://host/', headers: { a: 'b' } },
    { url: 'https://host/', proxy: reached.proxy },
    { url: 'https://host/', clientCertificate: reached.clientCertificate },
  ])('needs one for a secret', (secret) => {
    expect(() => keepOutbound(secret, place, undefined)).toThrow(NoVaultError)
  })

  test('opens for its own endpoint and topic, with its own key, only', () => {
    const kept = keepOutbound(reached, place, vault)
    expect(() => openOutbound({ ...place, ...kept }, newVault())).toThrow(/not among/)
    expect(() => openOutbound({ ...place, ...kept, endpoint: 'https://evil/' }, vault)).toThrow(
      /something else/,
    )
    expect(() => openOutbound({ ...place, ...kept, topicArn: 'another' }, vault)).toThrow(/something else/)
    expect(() => openOutbound({ ...place, ...kept }, undefined)).toThrow(NoVaultError)
  })

  test('unreadable secrets are reported without showing them', () => {
    const kept = {
      ...keepOutbound(reached, place, vault),
      sealed: vault.seal('{secret', outboundContext(place)),
    }
    expect(() => openOutbound({ ...place, ...kept }, vault)).toThrow(/^what was sealed cannot be read$/)
  })

  test('is whole again for a push consumer', () => {
    const consumer = { queueArn: 'arn:aws:sqs:us-east-1:000000000000:q', name: 'hook' }
    const record = { ...consumer, ...keepPushConsumer(reached, consumer, vault) } as PushConsumerRecord
    expect(JSON.stringify(record)).not.toContain('secret')
    expect(openPushConsumer(record, vault)).toEqual(reached)
  })
})
