import { expect, test } from 'vitest'
import { withoutTokens } from './printable.ts'

const TOKEN = 'Ab3-_'.repeat(9).slice(0, 43)
const link = `https://sns.example.com/?Action=Unsubscribe&SubscriptionArn=arn:x&Token=${TOKEN}`
const envelope = JSON.stringify({ UnsubscribeURL: link, Token: TOKEN, Type: 'Notification' })

test.each([
  ['as it is', envelope],
  ['in a string of JSON', JSON.stringify({ data: envelope })],
  ['in JSON that escapes &, < and =', JSON.stringify({ data: envelope }).replace(/[&=]/g, escaped)],
  ['in a page', `<pre>${envelope.replaceAll('"', '&quot;').replaceAll('&T', '&amp;T')}</pre>`],
  ['in a query', `said=${encodeURIComponent(link)}`],
  ['in a query of a query', encodeURIComponent(encodeURIComponent(link))],
  ['with single quotes', `{'Token': '${TOKEN}'}`],
  ['cut within the token', link.slice(0, -20)],
])('a repeated token is left out %s', (_, text) => {
  expect(text).toContain(TOKEN.slice(0, 23))
  expect(withoutTokens(text)).not.toContain(TOKEN.slice(0, 16))
  expect(withoutTokens(text)).toContain('***')
})

test('other text stays', () => {
  const text = `{"error":"the token is invalid","token":"expired","id":"${TOKEN}"}`
  expect(withoutTokens(text)).toBe(text)
})

function escaped(char: string): string {
  return `\\u00${char.charCodeAt(0).toString(16)}`
}
