/**
 * Reports this process to the list of processes, before it uses any data and then every ten seconds. A failed report is
 * repeated with growing pauses, and one log line says when failures begin and end.
 *
 *   gate closed ── reported ──▶ open ── no report for 35 s ──▶ closed ── reported ──▶ open …
 *                                                                ├── Redis refuses writes ──▶ only the format is read
 *                                                                └── the data are unknown now ──▶ the process ends
 *
 * While the gate is closed, commands to Redis wait for a report. A process that was frozen therefore writes nothing in
 * a format that other processes have left meanwhile. The first report also looks for processes of the other mode. The
 * later one of two processes sees the other.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import {
  closeGate,
  isTrouble,
  modesMixed,
  openGate,
  type Processes,
  type ProcessReport,
  REPORT_MS,
  type Redis,
  refuseUnknownData,
  SILENT_MS,
  UnknownDataError,
} from '@fantail/store'
import { createBackoff } from '../loops/backoff.ts'
import type { Logger } from '../loops/logger.ts'
import { createLoop } from '../loops/loop.ts'
import { createStateLog } from '../loops/state-log.ts'
import type { Build } from './build.ts'
import { STARTED_AT } from './checks.ts'

/** A histogram of ten wake-ups a second costs no measurable CPU. */
const RESOLUTION_MS = 100
const NS_PER_MS = 1_000_000
const FIRST_RETRY_MS = 1_000
/** How long a stopping process waits to leave the list of processes. Past it: it stays listed for 35 s. */
const LEAVE_TIMEOUT_MS = 1_000

interface HeartbeatOptions {
  processes: Pick<Processes, 'report' | 'end' | 'ofOtherMode'>
  role: string
  mode: ProcessReport['mode']
  build: Build
  running: { slots?(): { used: number; max: number } }
  log: Pick<Logger, 'info' | 'warn'>
  /** Ends the process, because it does not know the data any more. */
  fail: (error: unknown) => void
}

export interface Heartbeat {
  /** Sends the first report, then starts the others. Rejects with an UnknownDataError, or if Redis does not answer. */
  join(): Promise<void>
  /** Removes the process from the list. Never rejects. */
  stop(): Promise<void>
}

/** Closes the gate between the process and Redis until the first report. */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { processes, role, mode, build, running, log, fail } = options
  const id = randomUUID()
  const { version, commit } = build
  const sample = createLoadSample()
  const fixed = { id, role, mode, version, commit, host: hostname(), pid: process.pid, startedAt: STARTED_AT }
  const isListed = createStateLog({ log, what: 'processes', initial: 'up' })
  let [hasJoined, isLooking] = [false, true]
  const lookForOtherMode = async () => {
    const others = await processes.ofOtherMode(mode)
    isLooking = false
    if (others > 0) log.warn({ mode, others, detail: modesMixed(mode, others) }, 'redis.modes_mixed')
  }
  const send = async () => {
    const sentAt = performance.now()
    const report = { ...fixed, slots: running.slots?.() ?? null, ...sample.take() }
    if (await processes.report(report)) isListed('up')
    else isListed('down', new Error('the list of processes is full'))
    openGate(sentAt + SILENT_MS)
  }
  let sending: Promise<void> | undefined
  /** Waiting commands and the loop share a report. */
  const report = () => {
    sending ??= send().finally(() => {
      sending = undefined
    })
    return sending
  }
  const failIfUnknown = (error: unknown) => {
    if (error instanceof UnknownDataError) {
      closeGate(() => Promise.reject(error))
      fail(error)
    }
    throw error
  }
  closeGate((connection) =>
    report()
      .catch((error) => checkByReading(connection, error))
      .catch(failIfUnknown),
  )
  const loop = createLoop({
    name: 'heartbeat',
    log,
    backoff: createBackoff({ minMs: FIRST_RETRY_MS, maxMs: REPORT_MS }),
    round: async () => {
      if (hasJoined) await report().catch(failIfUnknown)
      hasJoined = true
      if (isLooking) await lookForOtherMode()
      return REPORT_MS
    },
  })
  return {
    async join() {
      await report()
      loop.start()
    },
    async stop() {
      const left = loop.stop().then(() => processes.end(id))
      const problem = await within(LEAVE_TIMEOUT_MS, left)
      if (problem !== undefined) log.info({ err: problem }, 'heartbeat.end_failed')
      sample.stop()
    },
  }
}

/**
 * For a Redis that refuses writes. Nothing takes effect there, so that reads may go on, and writes get its own answer.
 * Any other problem is thrown again.
 */
async function checkByReading(connection: Redis, problem: unknown): Promise<void> {
  if (!isTrouble(problem)) throw problem
  try {
    await refuseUnknownData(connection)
  } catch (error) {
    throw error instanceof UnknownDataError ? error : problem
  }
}

/** The error, or undefined if the promise was fulfilled in time. */
async function within(timeoutMs: number, promise: Promise<unknown>): Promise<unknown> {
  const late = Promise.withResolvers<unknown>()
  const timer = setTimeout(() => late.resolve(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([late.promise, promise.then(() => undefined)])
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
  }
}

function createLoadSample() {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let before = performance.eventLoopUtilization()
  return {
    /** Load and lag since the call before. */
    take() {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      // A delay contains the pause between two wake-ups.
      const lateMs = delays.count === 0 ? 0 : delays.percentile(99) / NS_PER_MS - RESOLUTION_MS
      delays.reset()
      return { load: Math.round(utilization * 1_000) / 1_000, lagMs: Math.max(0, Math.round(lateMs)) }
    },
    stop: () => void delays.disable(),
  }
}
