import { expect, test } from 'vitest'
import { groupsOf, sinceFirstCount, totalOf } from './stats-table.tsx'

const statsOf = (steps: number) => ({
  range: '1h' as const,
  stepSeconds: 60,
  kept: true,
  complete: true,
  at: Array.from({ length: steps }, (_, i) => new Date(i * 60_000).toISOString()),
  published: Array.from({ length: steps }, () => 2),
  delivered: Array.from({ length: steps }, (_, i) => i),
  failed: Array.from({ length: steps }, () => 0),
  deadLettered: Array.from({ length: steps }, () => 1),
  p50Ms: Array.from({ length: steps }, (_, i) => (i === 0 ? null : i)),
  p99Ms: Array.from({ length: steps }, () => null),
})

test.each([
  [15, 15],
  [60, 30],
  [1_440, 30],
  [168, 28],
])('%i steps are at most 30 rows, newest first, and lose no count', (steps, rows) => {
  const groups = groupsOf(statsOf(steps))
  expect(groups).toHaveLength(rows)
  expect(groups.reduce((sum, { delivered }) => sum + delivered, 0)).toBe((steps * (steps - 1)) / 2)
  expect(groups[0]?.at).toBeGreaterThan(groups.at(-1)?.at ?? 0)
  expect(groups.at(-1)?.at).toBe(0)
})

test('the total has sums, and the longest times', () => {
  expect(totalOf(statsOf(4))).toEqual({
    at: 0,
    published: 8,
    delivered: 6,
    failed: 0,
    deadLettered: 4,
    p50Ms: 3,
    p99Ms: null,
  })
  expect(totalOf({ ...statsOf(2), published: null }).published).toBeNull()
})

test('a chart begins one step before its first count, and keeps all counts', () => {
  const none = Array.from({ length: 60 }, () => 0)
  const quiet = { ...statsOf(60), published: none, delivered: none, deadLettered: none }
  const counted = (step: number) => ({ ...quiet, failed: none.map((_, i) => (i === step ? 3 : 0)) })
  for (const [step, from] of [
    [40, 39],
    [59, 55],
    [1, 0],
    [0, 0],
  ] as const) {
    const shown = sinceFirstCount(counted(step))
    expect([shown.at[0], shown.at.length], String(step)).toEqual([quiet.at[from], 60 - from])
    for (const series of [shown.published, shown.delivered, shown.p50Ms, shown.p99Ms])
      expect(series).toHaveLength(60 - from)
    expect(totalOf(shown).failed).toBe(3)
  }
  expect(sinceFirstCount(quiet)).toBe(quiet)
  expect(sinceFirstCount({ ...counted(30), published: null }).published).toBeNull()
})
