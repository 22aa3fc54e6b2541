import { expect, test } from 'vitest'
import { fieldsText, printable, tableText } from './text-table.ts'

test('columns are as wide as their longest text', () => {
  expect(
    tableText(
      ['NAME', 'N'],
      [
        ['orders', 1],
        ['x', null],
      ],
    ),
  ).toEqual(['NAME    N', 'orders  1', 'x       -'])
  expect(
    fieldsText([
      ['a', 1],
      ['long', undefined],
    ]),
  ).toBe('a     1\nlong  -')
})

test('text of others cannot steer a terminal', () => {
  expect(printable('a\u001b[2Jb\nc\u202ed')).toBe('a\\u001b[2Jb\\nc\\u202ed')
})
