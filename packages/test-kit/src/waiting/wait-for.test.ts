import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { waitedMs } from './fair-timer.ts'
import { waitFor } from './wait-for.ts'

const PATIENCE_MS = 200

const busy: ChildProcess[] = []
afterEach(() => {
  for (const child of busy.splice(0)) child.kill('SIGKILL')
})

/**
 * Waits for a condition that is never true. `took`: the duration in ms. `waited`: how long the process waited for a
 * processor meanwhile.
 */
async function waitInVain(): Promise<{ took: number; waited: number }> {
  const [from, before] = [performance.now(), waitedMs('self')]
  const condition = () => {
    // Uses the processor for a while.
    for (const until = performance.now() + 5; performance.now() < until; );
  }
  const waits = waitFor(condition, { what: 'a day', timeoutMs: PATIENCE_MS, intervalMs: 1 })
  await expect(waits).rejects.toThrow(`timed out after ${PATIENCE_MS} ms: waited for a day`)
  return { took: performance.now() - from, waited: waitedMs('self') - before }
}

test('a wait without success ends when its time is up, less the waits for a processor', async () => {
  const { took, waited } = await waitInVain()

  expect(took).toBeGreaterThan(PATIENCE_MS)
  expect(took - waited).toBeLessThan(2 * PATIENCE_MS)
})

test.skipIf(!countsWaits())('a wait lasts longer while others have the processors', async () => {
  for (let i = 0; i < 2 * availableParallelism(); i++) busy.push(spawn('sh', ['-c', 'while :; do :; done']))
  await waitFor(() => busy.every(({ pid = 0 }) => isRunning(pid)))
  const { took, waited } = await waitInVain()

  expect(waited).toBeGreaterThan(0)
  expect(took - waited).toBeGreaterThan(PATIENCE_MS - 20)
})

test('a long wait looks less often, and a given interval holds', async () => {
  const looks = async (intervalMs?: number) => {
    let count = 0
    const condition = () => void count++
    const options = { timeoutMs: 600, ...(intervalMs === undefined ? {} : { intervalMs }) }
    await expect(waitFor(condition, options)).rejects.toThrow('timed out after')
    return count
  }
  // At 10 ms, 600 ms would have 60 looks.
  const count = await looks()
  expect(count).toBeLessThan(45)
  expect(await looks(1)).toBeGreaterThan(count)
})

function isRunning(pid: number): boolean {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) > 0
}

function countsWaits(): boolean {
  try {
    return isRunning(1)
  } catch {
    return false
  }
}
