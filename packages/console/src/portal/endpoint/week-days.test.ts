/** Figures of a week by day. */
import { expect, test } from 'vitest'
import { daysOf, totalOf } from './week-days.ts'

const HOURS = 168
const FROM = Date.parse('2026-11-21T09:00:00.000Z')

function weekOf(counts: Partial<Record<number, number>>, meanMs: Partial<Record<number, number>> = {}) {
  const hours = Array.from({ length: HOURS }, (_, hour) => hour)
  return {
    at: hours.map((hour) => new Date(FROM + hour * 3_600_000).toISOString()),
    delivered: hours.map((hour) => counts[hour] ?? 0),
    failed: hours.map(() => 0),
    deadLettered: hours.map(() => 0),
    meanMs: hours.map((hour) => meanMs[hour] ?? null),
  }
}

test('hours become days of the calendar, and no count is lost', () => {
  const days = daysOf(weekOf({ 0: 3, 1: 4, 167: 5 }))
  expect(days.length).toBe(8)
  expect(days.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(12)
  expect(days[0]).toMatchObject({ delivered: 7, meanMs: null })
  expect(days.at(-1)).toMatchObject({ delivered: 5 })
})

test('a mean of means weighs each by what was delivered', () => {
  const [day] = daysOf(weekOf({ 0: 9, 1: 1 }, { 0: 10, 1: 110 }))
  expect(day?.meanMs).toBe(20)
  expect(totalOf([]).meanMs).toBeNull()
})
