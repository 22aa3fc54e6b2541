import { expect, test } from 'vitest'
import {
  OUTBOUND_HEADER_BYTES_MAX,
  OUTBOUND_HEADERS_MAX,
  outboundHeaderProblems,
} from './outbound-headers.ts'

test.each<Record<string, string>>([
  {},
  { Authorization: 'Bearer abc' },
  { 'X-Api-Key': 'a b\tc', Cookie: 'a=b; c=d' },
])('%j may be added', (headers) => {
  expect(outboundHeaderProblems(headers)).toEqual([])
})

test.each([
  'Host',
  'content-length',
  'Content-Type',
  'Connection',
  'KEEP-ALIVE',
  'Transfer-Encoding',
  'TE',
  'Upgrade',
  'Proxy-Authorization',
  'Expect',
  'traceparent',
  'x-amz-sns-message-id',
  'Webhook-Signature',
  'Svix-Id',
  'X-Fantail-Any',
  '',
  'a b',
  'a:b',
  'a\r\nHost',
  'naïve',
  'x'.repeat(129),
])('the name %j may not', (name) => {
  expect(outboundHeaderProblems({ [name]: 'secret' })).toMatchObject([{ name }])
  expect(JSON.stringify(outboundHeaderProblems({ [name]: 'secret' }))).not.toContain('secret')
})

test.each([
  '',
  ' ',
  'secret\r\nHost: evil',
  'secret\n',
  ' secret',
  'secret ',
  'sec\0ret',
  'sécret',
  '\u{1f600}',
])('the value %j may not', (value) => {
  const problems = outboundHeaderProblems({ 'X-Key': value })
  expect(problems).toMatchObject([{ name: 'X-Key' }])
  expect(JSON.stringify(problems)).not.toMatch(/sec|séc/)
})

test('there is an end to how many, how long and how often', () => {
  const many = Object.fromEntries(Array.from({ length: OUTBOUND_HEADERS_MAX + 1 }, (_, i) => [`x-${i}`, 'y']))
  expect(outboundHeaderProblems(many)).toHaveLength(1)
  const fits = OUTBOUND_HEADER_BYTES_MAX - 'x'.length - 4
  expect(outboundHeaderProblems({ x: 'y'.repeat(fits) })).toEqual([])
  expect(outboundHeaderProblems({ x: 'y'.repeat(fits + 1) })).toHaveLength(1)
  expect(outboundHeaderProblems({ 'X-Key': 'a', 'x-key': 'b' })).toMatchObject([{ name: 'x-key' }])
})
