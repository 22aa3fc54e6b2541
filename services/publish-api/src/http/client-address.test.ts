import { expect, test } from 'vitest'
import { createReachedBy } from './client-address.ts'

const PROXIES = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.1']
const { addressOf, isSecure } = createReachedBy(PROXIES)

test.each<[peer: string | undefined, forwardedFor: string | undefined, address: string | undefined]>([
  ['203.0.113.9', undefined, '203.0.113.9'],
  ['::ffff:203.0.113.9', undefined, '203.0.113.9'],
  // A caller who is no proxy says what it likes.
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['10.1.2.3', undefined, '10.1.2.3'],
  ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
  ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
  // The caller has sent the first entry.
  ['10.1.2.3', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['10.1.2.3', '198.51.100.1, 203.0.113.9, 192.0.2.1', '203.0.113.9'],
  ['10.1.2.3', '10.9.9.9,203.0.113.9 , 2001:db8:1::7', '203.0.113.9'],
  ['10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
  ['10.1.2.3', '[2001:db8:2::7]:4711', '2001:db8:2::7'],
  ['10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
  ['10.1.2.3', '10.4.4.4, 10.5.5.5', '10.4.4.4'],
  // An entry that is no address: the proxy that has sent it is the last known one.
  ['10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
  ['10.1.2.3', '203.0.113.9, x, 192.0.2.1', '192.0.2.1'],
  ['10.1.2.3', '', '10.1.2.3'],
  ['10.1.2.3', ',', '10.1.2.3'],
  [undefined, '203.0.113.9', undefined],
])('a connection from %s with X-Forwarded-For %s has the caller %s', (peer, forwardedFor, address) => {
  expect(addressOf(peer, forwardedFor)).toBe(address)
})

test('without trusted proxies the header says nothing', () => {
  const direct = createReachedBy()
  expect(direct.addressOf('10.1.2.3', '203.0.113.9')).toBe('10.1.2.3')
  expect(direct.isSecure('10.1.2.3', 'https')).toBeUndefined()
})

test.each<[peer: string | undefined, forwardedProto: string | undefined, isSecure: boolean | undefined]>([
  ['10.1.2.3', 'https', true],
  ['::ffff:10.1.2.3', 'HTTPS', true],
  ['10.1.2.3', 'http', false],
  ['10.1.2.3', '', false],
  // The caller has sent the first value.
  ['10.1.2.3', 'https, http', false],
  ['10.1.2.3', 'http,https ', true],
  ['10.1.2.3', undefined, undefined],
  ['203.0.113.9', 'https', undefined],
  [undefined, 'https', undefined],
])('a connection from %s with X-Forwarded-Proto %s has TLS: %s', (peer, forwardedProto, secure) => {
  expect(isSecure(peer, forwardedProto)).toBe(secure)
})
