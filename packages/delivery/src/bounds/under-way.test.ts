import { expect, test } from 'vitest'
import { UnderWay } from './under-way.ts'

test('a provider that answers gets many messages at a time, and one that hangs gets few', () => {
  const clock = { ms: 0 }
  const underWay = new UnderWay(() => clock.ms)
  const beginAll = (n: number) => Array.from({ length: n }, () => underWay.begin()).filter(Boolean).length
  expect(beginAll(520)).toBe(500)
  for (let n = 0; n < 470; n++) underWay.end()
  clock.ms += 2_001
  expect(underWay.begin()).toBe(false)
  underWay.answered()
  expect(underWay.begin()).toBe(true)
  expect(underWay.count).toBe(31)
  clock.ms += 2_001
  for (let n = 0; n < 12; n++) underWay.end()
  expect([underWay.begin(), underWay.begin()]).toEqual([true, false])
})
