/**
 * A short run of one seed, without the rounds in which providers hang in turn. `npm run test:chaos` includes these
 * rounds, and runs any seed for any time.
 */
import { expect, test } from 'vitest'
import { fullestWindow } from './judges/throttle-judge.ts'
import { createSchedule, scheduleLines } from './plan/schedule.ts'
import { runChaos } from './run.ts'

/**
 * This seed has a failover and a redrive, and also kills, freezes, lost connections, a clock step and forgotten
 * scripts.
 */
const SEED = 95
const SECONDS = 40
const TEST_MS = 300_000

test('a seed determines every input and every fault', () => {
  const lines = scheduleLines(createSchedule(7, 60))
  expect(scheduleLines(createSchedule(7, 60))).toEqual(lines)
  expect(scheduleLines(createSchedule(8, 60))).not.toEqual(lines)
})

test('the fullest second of many sends is found', () => {
  expect(fullestWindow([])).toEqual({ most: 0, from: 0 })
  expect(fullestWindow([0, 900, 1_000, 1_100, 1_899, 3_000])).toEqual({ most: 4, from: 900 })
})

test(
  'every delivery ends in one place, in order and at its rate, whatever fails when',
  async () => {
    const { findings, folder } = await runChaos(createSchedule(SEED, SECONDS), { isolation: false })
    expect(findings, `what happened is in ${folder}`).toEqual([])
  },
  TEST_MS,
)
