import { expect, test } from 'vitest'
import { comparableAddress, domainOfAddress, isMailAddress } from './mail-address.ts'

test.each([
  'ada@example.com',
  'ada.lovelace+news@mail.example.co.uk',
  "o'hara@example.com",
  'a@b.c',
  `${'a'.repeat(64)}@example.com`,
  'ada@xn--bcher-kva.example',
])('%s is an address', (text) => {
  expect(isMailAddress(text)).toBe(true)
})

test.each([
  'foo',
  '@',
  '@example.com',
  'ada@',
  'ada@localhost',
  'ada@@example.com',
  'ada@example.com,eve@example.com',
  'ada@example.com;eve@example.com',
  'ada@example.com eve@example.com',
  'Ada <ada@example.com>',
  '<ada@example.com>',
  '"ada eve"@example.com',
  'ada(comment)@example.com',
  'ada@[127.0.0.1]',
  'ada@example.com\r\nBcc: eve@example.com',
  'ada\n@example.com',
  'ada@example.com\n',
  'ada\0@example.com',
  'team: ada@example.com;',
  '.ada@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'ada@-example.com',
  'ada@example..com',
  'ada@bücher.example',
  `${'a'.repeat(65)}@example.com`,
  `ada@${'a'.repeat(64)}.com`,
  `ada@${'a.'.repeat(126)}com`,
])('%j is none', (text) => {
  expect(isMailAddress(text)).toBe(false)
})

test('addresses are compared without case, domains too', () => {
  expect(comparableAddress('Ada@Example.COM')).toBe('ada@example.com')
  expect(domainOfAddress('Ada@Example.COM')).toBe('example.com')
})

test('a long text is judged at once', () => {
  expect(isMailAddress(`${'a.'.repeat(500_000)}@example.com`)).toBe(false)
})
