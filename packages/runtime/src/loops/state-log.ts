/** Logs one line for each change of state, however often the state is reported. */
import type { Logger } from './logger.ts'

export type State = 'up' | 'down'

/** Reports the present state. `error`: why it is down. */
export type ReportState = (state: State, error?: unknown) => void

interface StateLogOptions {
  log: Pick<Logger, 'info' | 'warn'>
  /** The name of the thing that is up or down: `redis`, or a loop's name. */
  what: string
  /** The state that needs no line. Without it the first reported state is logged. */
  initial?: State
}

export function createStateLog({ log, what, initial }: StateLogOptions): ReportState {
  let current = initial
  let since = performance.now()
  return (state, error) => {
    if (state === current) return
    const durationMs = Math.round(performance.now() - since)
    current = state
    since = performance.now()
    if (state === 'up') log.info({ what, state, durationMs }, `${what}.up`)
    else log.warn({ what, state, durationMs, ...(error === undefined ? {} : { err: error }) }, `${what}.down`)
  }
}
