/** Readiness: what a service needs, each tried with a bound. */
import { errorFields } from './logger.ts'

/** Resolves where the thing works, rejects with what is wrong. */
export type Checks = Record<string, () => Promise<unknown>>

interface Readiness {
  ready: boolean
  /** `ok`, or what is wrong. */
  checks: Record<string, string>
}

/** @limit One check of readiness. Past it: the service answers that it is not ready. */
const CHECK_TIMEOUT_MS = 1_000

export async function runChecks(checks: Checks, timeoutMs = CHECK_TIMEOUT_MS): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, timeoutMs)] as const),
  )
  return {
    ready: results.every(([, result]) => result === 'ok'),
    checks: Object.fromEntries(results),
  }
}

/** The check of a service that listens before it works: it fails until `done` is called. */
export function createStartCheck(): { check(): Promise<void>; done(): void } {
  let started = false
  return {
    check: async () => {
      if (!started) throw new Error('still starting')
    },
    done: () => {
      started = true
    },
  }
}

async function outcome(check: () => Promise<unknown>, timeoutMs: number): Promise<string> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`no answer within ${timeoutMs} ms`), timeoutMs)
  try {
    return await Promise.race([late.promise, check().then(() => 'ok')])
  } catch (error) {
    return errorFields(error).message
  } finally {
    clearTimeout(timer)
  }
}
