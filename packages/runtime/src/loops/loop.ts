/**
 * Background loops. A loop calls `round`, pauses for the time that it returned, and calls it again. After a failed
 * round the pauses grow. One line is logged when failures begin, and one when they end.
 */
import { type Backoff, createBackoff } from './backoff.ts'
import type { Logger } from './logger.ts'
import { createStateLog } from './state-log.ts'

/** A background loop, as its owner sees it. */
export interface Loop {
  start(): void | Promise<void>
  /** Resolves when no part of the loop runs any more. */
  stop(): Promise<void>
}

export interface WakeableLoop extends Loop {
  /** Ends the pause between rounds. If a round is running, another follows at once. Never shortens a backoff. */
  wake(): void
}

interface LoopOptions {
  name: string
  log: Pick<Logger, 'info' | 'warn'>
  /** One unit of work. Resolves with the pause until the next round, in ms. `stop` aborts the signal. */
  round: (signal: AbortSignal) => Promise<number>
  backoff?: Backoff
}

/** Longest pause of a loop, because setTimeout takes no longer one. Past it: the pause is cut. */
const PAUSE_MS_MAX = 2_147_483_647

export function createLoop({ name, log, round, backoff = createBackoff() }: LoopOptions): WakeableLoop {
  const stopping = new AbortController()
  const report = createStateLog({ log, what: name, initial: 'up' })
  let running: Promise<void> | undefined
  let woken = false
  let endPause = () => {}

  async function pause(ms: number): Promise<void> {
    if (stopping.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, PAUSE_MS_MAX))
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function runRound(): Promise<void> {
    woken = false
    try {
      const pauseMs = await round(stopping.signal)
      backoff.reset()
      report('up')
      if (!woken) await pause(pauseMs)
    } catch (error) {
      if (stopping.signal.aborted) return
      report('down', error)
      woken = true
      await pause(backoff.nextMs())
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) await runRound()
  }

  return {
    start() {
      running ??= run()
    },
    wake() {
      if (woken) return
      woken = true
      endPause()
    },
    async stop() {
      stopping.abort()
      endPause()
      await running
    },
  }
}
