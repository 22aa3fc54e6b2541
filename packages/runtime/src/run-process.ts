/**
 * The life of a process: starting → running → stopping → gone. SIGTERM or SIGINT ends the first two, once. An uncaught
 * error ends the process at once, because its state is then unknown.
 */
import { UnknownDataError } from '@fantail/store'
import type { Logger } from './loops/logger.ts'

interface ProcessParts<T> {
  name: string
  log: Logger
  /**
   * The signal is aborted if the process must stop before it has started. `fail` ends the process as a rejection would.
   * It is for errors that appear after the start and keep the service from working.
   */
  start: (signal: AbortSignal, fail: (error: unknown) => void) => Promise<T>
  /** Called with the result of `start`. */
  stop: (started: T) => Promise<void>
  /**
   * A BullMQ worker does not close while Redis is unreachable. The process therefore ends after this time, closed or
   * not.
   */
  stopTimeoutMs?: number
}

/** @limit Time that a process has to stop. Past it: the process ends at once. */
const STOP_TIMEOUT_MS = 18_000

/**
 * The exit code of a process that does not know the format of the data at its start. It is EX_CONFIG of sysexits.h. A
 * restart would not help, and the units of systemd do not make one.
 */
const UNKNOWN_DATA = 78

/**
 * Never returns: the process ends with 0 after a clean stop, with 78 if this release must not use the data, else with
 * 1. If the data become unknown while it runs, it also ends with 1: a restart may find a newer release on the disk.
 */
export async function runProcess<T>(parts: ProcessParts<T>): Promise<never> {
  const { name, log } = parts
  const startedAt = performance.now()
  process.on('uncaughtException', (error) => die(log, error, 'process.uncaught_exception'))
  process.on('unhandledRejection', (error) => die(log, error, 'process.unhandled_rejection'))
  const stopping = stopSignal(parts)
  let isStarting = true
  const fail = (error: unknown) => {
    const code = isStarting && error instanceof UnknownDataError ? UNKNOWN_DATA : 1
    die(log, error, `${name}.failed`, code)
  }
  try {
    const started = await parts.start(stopping, fail)
    isStarting = false
    log.info({ durationMs: Math.round(performance.now() - startedAt), pid: process.pid }, `${name}.started`)
    await aborted(stopping)
    await parts.stop(started)
  } catch (error) {
    // The rejection is only the result of stopping, so it is no error.
    const givenUp = stopping.aborted && error instanceof Error && error.name === 'AbortError'
    if (!givenUp) fail(error)
  }
  log.info({ durationMs: Math.round(performance.now() - startedAt) }, `${name}.stopped`)
  process.exit(0)
}

type Stoppable = Pick<ProcessParts<unknown>, 'name' | 'log' | 'stopTimeoutMs'>

/** Aborted by the first SIGTERM or SIGINT. Further signals change nothing. */
function stopSignal({ name, log, stopTimeoutMs = STOP_TIMEOUT_MS }: Stoppable): AbortSignal {
  const stopping = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) return
    log.info({ signal }, `${name}.stopping`)
    setTimeout(() => {
      log.error({ stopTimeoutMs }, `${name}.stop_timed_out`)
      process.exit(1)
    }, stopTimeoutMs)
    stopping.abort()
  }
  // Without the process that started and watches it, it would run on unseen.
  process.once('disconnect', () => stop('SIGTERM'))
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return stopping.signal
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  // Keeps the process alive while the service has no open handle of its own.
  const alive = setInterval(() => {}, 60_000)
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  clearInterval(alive)
}

function die(log: Logger, error: unknown, what: string, code = 1): never {
  log.fatal({ err: error }, what)
  process.exit(code)
}
