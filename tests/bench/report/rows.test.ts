import { expect, test } from 'vitest'
import { readOptions } from '../options.ts'
import { othersRow, ticksNow } from './others.ts'
import { isReached, rowLine, rowOf, rowTable } from './rows.ts'
import { figureOf, intervalOf } from './summary.ts'

test('a bar is reached on its own side, and by nothing that is no number', () => {
  const row = { figure: 'p50', unit: 'ms' }
  expect(isReached({ ...row, value: 5, atMost: 5 })).toBe(true)
  expect(isReached({ ...row, value: 5.1, atMost: 5 })).toBe(false)
  expect(isReached({ ...row, value: 0.9, atLeast: 0.9 })).toBe(true)
  expect(isReached({ ...row, value: 0.89, atLeast: 0.9 })).toBe(false)
  expect(isReached({ ...row, value: Number.NaN, atMost: 5 })).toBe(false)
  expect(isReached({ ...row, value: 1e9 })).toBe(true)
})

test('a line has the scenario, the row and whether it was reached', () => {
  const row = rowOf('ratio', figureOf([6.5, 7.5, 7.25]), { unit: '×', atLeast: 7 })
  expect(JSON.parse(rowLine('fanout-10', row))).toEqual({
    scenario: 'fanout-10',
    figure: 'ratio',
    value: 7.25,
    spread: [6.5, 7.5],
    unit: '×',
    atLeast: 7,
    reached: true,
  })
  expect(JSON.parse(rowLine('idle', { figure: 'CPU', value: 1, unit: '%' }))).not.toHaveProperty('reached')
})

test('the table keeps the digits that a bar is judged by, and marks what is missed', () => {
  const rows = [
    { figure: 'share', value: 0.648, unit: '×', atLeast: 0.65 },
    { figure: 'rate', value: 12_345.6, spread: [9.87, 99.94] as [number, number], unit: '/s', note: 'warm' },
  ]
  const text = rowTable(new Map([['publish', rows]]))
  expect(text).toMatch(/\| publish +\| share +\| 0.648 × +\| ≥ 0.65, \*\*missed\*\* \|/)
  expect(text).toMatch(/\| publish +\| rate +\| 12,346 \(9.87–99.9\) \/s +\| +\| warm \|/)
})

test('scenarios are words; the usage answers unknown ones', () => {
  expect(readOptions(['--', 'fanout-1', 'fanout-10', '--json']).scenarios).toEqual(['fanout-1', 'fanout-10'])
  expect(readOptions(['--quick']).scenarios).toEqual([])
  expect(readOptions(['all']).scenarios).toContain('fanout-10')
  for (const words of [['fanout-11'], ['fanout-10', '--rounds', '3']]) {
    expect(() => readOptions(words)).toThrow('usage: npm run bench')
  }
})

test('a commit that is unknown is refused before anything is measured', () => {
  expect(() => readOptions(['earlier', '--against', 'no-such'])).toThrow('has no commit no-such')
})

test('the share of others is the busy time that is not our own', () => {
  const before = { all: 1_000, busy: 400, own: 100 }
  expect(othersRow(before, { all: 2_000, busy: 1_000, own: 600 })).toMatchObject({ value: 10, unit: '%' })
  expect(othersRow(before, { all: 2_000, busy: 900, own: 620 }).value).toBe(0)
})

test('the kernel counts our own time among what is busy', () => {
  const before = ticksNow()
  const usedBefore = process.cpuUsage()
  const usedMs = () => (process.cpuUsage(usedBefore).user + process.cpuUsage(usedBefore).system) / 1_000
  while (usedMs() < 100) Math.sqrt(usedMs())
  const now = ticksNow()
  expect(now.own - before.own).toBeGreaterThan(5)
  expect(now.busy - before.busy).toBeGreaterThan(5)
})

test('the interval of a median leaves out what lies outside of it in one of forty runs, on each side', () => {
  const values = (count: number) => Array.from({ length: count }, (_, n) => n + 1).toReversed()
  expect(intervalOf(values(24))).toEqual({ median: 12.5, min: 7, max: 18 })
  expect(intervalOf(values(6))).toEqual({ median: 3.5, min: 1, max: 6 })
  expect(intervalOf(values(5))).toEqual({ median: 3, min: 1, max: 5 })
})
