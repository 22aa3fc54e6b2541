import { expect, test } from 'vitest'
import { UnprovenLine } from './unproven-line.ts'

test('the shard whose lane has waited longest is first, up to where another has waited longer', () => {
  const line = new UnprovenLine()
  expect(line.first).toBe(undefined)
  for (const [shard, at] of [
    [3, 5_000],
    [7, 1_000],
    [9, 2_000],
  ] as const)
    expect(line.report(shard, at)).toBe(true)
  expect(line.first).toEqual({ shard: 7, at: 1_000, till: 2_250 })
  line.forget(7)
  expect(line.first).toMatchObject({ shard: 9, at: 2_000 })
  line.forget(9)
  expect(line.first).toEqual({ shard: 3, at: 5_000, till: undefined })
})

test('an earlier time counts, a later one or none changes nothing', () => {
  const line = new UnprovenLine()
  line.report(1, 500)
  expect([line.report(1, 800), line.report(1, null), line.report(1, 300)]).toEqual([false, false, true])
  expect(line.first).toMatchObject({ shard: 1, at: 300 })
})
