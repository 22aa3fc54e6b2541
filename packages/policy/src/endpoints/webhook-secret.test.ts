import { expect, test } from 'vitest'
import { isWebhookSecret } from './webhook-secret.ts'

test.each([
  '',
  'whsec_',
  `whsec_${Buffer.alloc(23).toString('base64')}`,
  `whsec_${Buffer.alloc(76).toString('base64')}`,
  `whsec_${'!'.repeat(40)}`,
  // base64 has no texts of 4n + 1 characters, and no padding that leads to another length than 4n.
  `whsec_${'A'.repeat(33)}`,
  `whsec_${'A'.repeat(33)}=`,
  `whsec_${'A'.repeat(34)}=`,
  `whsec_${'A'.repeat(36)}=`,
  // Bits behind the last byte, a line feed, and the alphabet of URLs.
  `whsec_${'A'.repeat(34)}C`,
  `whsec_${'A'.repeat(36)}\n`,
  `whsec_${'A'.repeat(35)}_`,
  Buffer.alloc(32).toString('base64'),
])('%j is no secret', (text) => {
  expect(isWebhookSecret(text)).toBe(false)
})

test.each([24, 25, 26, 75])('%i bytes are a secret, with padding and without', (count) => {
  const text = `whsec_${Buffer.alloc(count, 0xfb).toString('base64')}`
  for (const secret of [text, text.replace(/=+$/, '')]) {
    expect(isWebhookSecret(secret)).toBe(true)
    expect(() => atob(secret.slice(6))).not.toThrow()
  }
})
