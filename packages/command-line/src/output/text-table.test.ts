import { expect, test } from 'vitest'
import { counted, fieldsText, tableText } from './text-table.ts'

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

test('wide characters take two columns, and a long cell lengthens its own line only', () => {
  const long = 'x'.repeat(100)
  const rows = [
    ['漢字', 1],
    ['é👨‍👩‍👧', 2],
    [long, 3],
    ['b', 4],
  ]
  expect(tableText(['NAME', 'N'], rows)).toEqual([
    `${'NAME'.padEnd(60)}  N`,
    `漢字${' '.repeat(56)}  1`,
    `é👨‍👩‍👧${' '.repeat(57)}  2`,
    `${long}  3`,
    `${'b'.padEnd(60)}  4`,
  ])
})

test('one thing is counted in the singular', () => {
  const deliveries = [0, 1, 2].map((count) => counted(count, 'delivery', 'deliveries'))
  expect(deliveries).toEqual(['0 deliveries', '1 delivery', '2 deliveries'])
  expect(counted(1, 'letter')).toBe('1 letter')
})
