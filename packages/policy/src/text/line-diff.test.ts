import { expect, test } from 'vitest'
import { lineDiff } from './line-diff.ts'

const signed = (before: string, after: string) => lineDiff(before, after).map(({ sign, text }) => sign + text)

test('lines that only one text has have a sign, and the others stay between them', () => {
  expect(signed('a\nb\nc', 'a\nx\nc\nd')).toEqual([' a', '-b', '+x', ' c', '+d'])
  expect(signed('same', 'same')).toEqual([' same'])
})

test('an empty text has no lines, and an empty line is one', () => {
  expect(signed('', 'new')).toEqual(['+new'])
  expect(signed('old', '')).toEqual(['-old'])
  expect(signed('a', 'a\n')).toEqual([' a', '+'])
  expect(signed('', '')).toEqual([])
})
