import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { startFairTimer } from './fair-timer.ts'
import { waitFor } from './wait-for.ts'

const busy: ChildProcess[] = []
afterEach(() => {
  for (const child of busy.splice(0)) child.kill('SIGKILL')
})

const pass = (ms: number) => {
  const from = performance.now()
  return waitFor(() => performance.now() - from >= ms)
}

test('time in which nothing kept the process from running counts in full', async () => {
  const [from, took] = [performance.now(), startFairTimer()]
  await pass(100)
  const ms = took()

  expect(ms).toBeGreaterThan(0)
  expect(ms).toBeLessThanOrEqual(performance.now() - from)
})

test.skipIf(!countsWaits())('time in which others had the processors is taken off', async () => {
  const all = Array.from({ length: 3 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);']),
  )
  busy.push(...all)
  const pids = all.map(({ pid }) => pid ?? 0)
  const took = startFairTimer(...pids)
  await pass(1_000)

  // All of them together wait longer than the test does.
  expect(took()).toBe(0)
})

test('a process that has ended takes nothing off', async () => {
  const [from, took] = [performance.now(), startFairTimer(4_194_305)]
  await pass(20)

  expect(took()).toBeLessThanOrEqual(performance.now() - from)
})

function countsWaits(): boolean {
  try {
    return Number(readFileSync('/proc/1/schedstat', 'utf8').split(' ')[0]) > 0
  } catch {
    return false
  }
}
