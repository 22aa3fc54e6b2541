/** Waiting for a condition; the only place of the tests that lets time pass. */

/** When a wait is given up. No bound for Fantail: on a machine that does much else, all takes ten times as long. */
const WAIT_MS = 30_000

interface WaitOptions {
  /** Names the condition in the error. */
  what?: string
  timeoutMs?: number
  intervalMs?: number
}

/** Resolves with the first truthy result of `condition`; rejects, naming it, when the time is up. */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { what = 'a condition', timeoutMs = WAIT_MS, intervalMs = 10 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
}
