/**
 * Steps of a service's start that need Redis. Redis may become unreachable between any two of them, so each step is
 * repeated until it works. One line is logged when failures begin, and one when they end. Rejected: exiting. A
 * supervisor would restart the service again and again, and without a supervisor it would stay down.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { UnusableDataError } from '@fantail/store'
import { createBackoff } from './loops/backoff.ts'
import type { Logger } from './loops/logger.ts'
import { createStateLog } from './loops/state-log.ts'

interface StartStepsOptions {
  log: Pick<Logger, 'info' | 'warn'>
  /** Name in the log lines; default `start`. */
  what?: string
  /** Ends the start. */
  signal?: AbortSignal | undefined
}

/** Runs one step. Resolves with its result. Rejects with an UnusableDataError, or with the signal's reason. */
export type StartStep = <T>(step: () => Promise<T>) => Promise<T>

export function createStartSteps({ log, what = 'start', signal }: StartStepsOptions): StartStep {
  const report = createStateLog({ log, what, initial: 'up' })
  return async (step) => {
    const backoff = createBackoff()
    for (;;) {
      signal?.throwIfAborted()
      try {
        const result = await step()
        report('up')
        return result
      } catch (error) {
        if (error instanceof UnusableDataError) throw error
        report('down', error)
        await delay(backoff.nextMs(), undefined, signal && { signal }).catch(() => undefined)
      }
    }
  }
}
