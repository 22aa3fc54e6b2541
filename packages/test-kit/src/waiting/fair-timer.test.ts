import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { startFairTimer, Waits } from './fair-timer.ts'
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

  // At each moment two of three processes wait.
  expect(took()).toBeLessThan(100)
})

test('a wait that several share counts once', () => {
  const waits = new Waits()
  waits.add(0, 10)
  waits.add(2, 10)
  waits.add(15, 20)
  expect(waits.ms()).toBe(15)
  waits.add(18, 25)
  waits.add(5, 25)
  expect(waits.ms()).toBe(25)
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
