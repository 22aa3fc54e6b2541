import { expect, test } from 'vitest'
import { readUrl } from './listen-flags.ts'

test.each([
  ['localhost:3000/hooks', 'http://localhost:3000/hooks'],
  ['http://localhost:3000', 'http://localhost:3000/'],
  ['HTTP://localhost:3000', 'http://localhost:3000/'],
  ['HttpS://localhost/x?y', 'https://localhost/x?y'],
  ['3999', 'http://localhost:3999/'],
  [':3999', 'http://localhost:3999/'],
  ['3999/hooks?a=1', 'http://localhost:3999/hooks?a=1'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
  ['[::1]:3000', 'http://[::1]:3000/'],
  ['my-host', 'http://my-host/'],
])('%s leads to %s', (given, url) => {
  expect(readUrl(given, '--forward-to').href).toBe(url)
})

test.each([
  '',
  'http://',
  'ftp://localhost',
  'unix:///run/hooks',
  '65536',
  'localhost:99999',
  'user:word@localhost',
])('%j is refused', (given) => {
  expect(() => readUrl(given, '--forward-to')).toThrow('--forward-to is not an http or https address')
})
