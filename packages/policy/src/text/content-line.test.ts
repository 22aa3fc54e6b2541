import { expect, test } from 'vitest'
import { contentLine, LINE_CHARS_MAX, textFinder } from './content-line.ts'

test.each([
  ['größe', '{"name":"Größe 42"}'],
  ['größe', String.raw`{"name":"gr\u00f6\u00dfe"}`],
  ['GRÖSSE', String.raw`{"in":"{\"name\":\"gr\\u00F6sse\"}"}`],
  ['say "hi"', String.raw`{"text":"say \"hi\""}`],
  ['a/b', String.raw`["a\/b"]`],
  ['😀', String.raw`"\ud83d\ude00"`],
  ['c:\\new', String.raw`{"path":"C:\\new"}`],
  ['zeile\nzwei', String.raw`{"text":"Zeile\nZwei"}`],
])('%j is found in %s', (wanted, text) => {
  const found = textFinder(wanted)(text)
  expect(found?.text.slice(found.at, found.at + wanted.length).toLowerCase()).toBe(wanted.toLowerCase())
})

test('a text is found as it was published, and not where it is absent', () => {
  const text = String.raw`{"name":"gr\u00f6\u00dfe"}`
  expect(textFinder('U00F6')(text)).toEqual({ text, at: 12 })
  expect(textFinder('grösse')(text)).toBeUndefined()
})

test('a line has the text around the place, in one line, with escapes decoded and invisible characters shown', () => {
  expect(contentLine('{\n  "id": 4711,\n  "name": "Gr\\u00f6\\u00dfe"\n}')).toBe(
    '{ "id": 4711, "name": "Größe" }',
  )
  expect(contentLine('pay\u202epal \u200b and \\u202e')).toBe('pay\\u202epal \\u200b and \\u202e')
  const text = `${'x'.repeat(100)} needle ${'y'.repeat(400)}`
  const line = contentLine(text, text.indexOf('needle'))
  expect(line).toMatch(/^…x{29} needle y+…$/)
  expect(line.length).toBeLessThanOrEqual(LINE_CHARS_MAX)
})

test('a line ends between characters as people see them', () => {
  const family = '👨‍👩‍👧‍👦'
  const line = contentLine(`${'a'.repeat(LINE_CHARS_MAX - 6)}${family}${family}`)
  expect(line).toBe(`${'a'.repeat(LINE_CHARS_MAX - 6)}…`)
  const pairs = '😀'.repeat(100)
  expect(contentLine(pairs, 31).isWellFormed()).toBe(true)
  expect(contentLine(pairs)).toMatch(/^(😀)+…$/u)
  expect(contentLine('\ud800x').isWellFormed()).toBe(true)
  expect(contentLine(`a${'\u0301'.repeat(1_000)}`)).toBe('…')
})
