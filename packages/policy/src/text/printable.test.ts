import { expect, test } from 'vitest'
import { markdownCell, printable, printableLines } from './printable.ts'

test('text of others cannot steer a terminal', () => {
  expect(printable('a\u001b[2Jb\nc\u202ed\u061c')).toBe('a\\u001b[2Jb\\nc\\u202ed\\u061c')
  expect(printableLines('a\tb\nc\rd\u009b2J\u001b]52;c;eA\u0007')).toBe(
    'a\tb\nc\\rd\\u009b2J\\u001b]52;c;eA\\u0007',
  )
})

test('characters that nobody sees are shown, but those of scripts and emoji stay', () => {
  expect(printable('or\u200bders\ufeff\u00ad\u2060\u{e0041}')).toBe(
    'or\\u200bders\\ufeff\\u00ad\\u2060\\udb40\\udc41',
  )
  const family = '👨‍👩‍👧 ❤️ می‌خواهم'
  expect(printable(family)).toBe(family)
})

test('JSON keeps its value', () => {
  const value = { body: 'a\u001b[31m\u009b2J\u202e\u2028\u200b\u{e0041}\r\n' }
  const text = printableLines(JSON.stringify(value, null, 2))
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toMatch(/^[\n\x20-\x7e]*$/)
})

test('a cell of a Markdown table can hold neither markup nor another cell', () => {
  expect(markdownCell('https://a.example/x?a=1')).toBe('https://a.example/x?a=1')
  expect(markdownCell(`a | <img src="x" onerror='y'>\n[link](javascript:1) \`code\` & \\`)).toBe(
    'a &#124; &#60;img src=&#34;x&#34; onerror=&#39;y&#39;&#62;&#92;n&#91;link&#93;(javascript:1) &#96;code&#96; &#38; &#92;',
  )
})
