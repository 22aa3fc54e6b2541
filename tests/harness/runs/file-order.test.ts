import { expect, test } from 'vitest'
import { mixed } from './file-order.ts'

test('mixes two lists evenly and keeps the order of each', () => {
  expect(mixed(['A', 'B'], ['1', '2', '3', '4', '5', '6'])).toEqual(['1', 'A', '2', '3', '4', 'B', '5', '6'])
  expect(mixed([], ['1', '2'])).toEqual(['1', '2'])
})
