/** Readiness: checks everything that a service needs, each check with a time limit. */
import { setTimeout as delay } from 'node:timers/promises'
import { errorFields } from '../loops/logger.ts'
import type { Build } from './build.ts'

/** Each resolves if its part works, and rejects with the reason if not. */
export type Checks = Record<string, () => Promise<unknown>>

interface Readiness {
  ready: boolean
  /** `ok`, or what is wrong. */
  checks: Record<string, string>
}

/** A reason why a service that works needs attention. */
export interface Degradation {
  reason: string
  message: string
}

/** The parts of the answer of `/readyz` in addition to its checks. */
export interface ReadyOptions {
  checks: Checks
  /** Called if every check passes. A rejection counts as a degradation. */
  degradations?: () => Promise<Degradation[]>
  build: Build
}

interface ReadyAnswer {
  status: 200 | 503
  body: ReadyBody
}

interface ReadyBody extends Pick<Build, 'version' | 'commit'> {
  /** `degraded`: the service works, and an operator should look at it. */
  status: 'ready' | 'degraded' | 'unavailable'
  checks: Record<string, string>
  degraded: Degradation[]
  startedAt: string
}

/** @limit One check of readiness. Past it: the service answers that it is not ready. */
const CHECK_TIMEOUT_MS = 1_000

const CHECK_AGAIN_MS = 100

/** When this process started, ISO 8601. */
export const STARTED_AT = new Date(performance.timeOrigin).toISOString()

/** Resolves when every check passes, or when the signal is aborted. */
export async function whenReady(checks: Checks, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await runChecks(checks)).ready) await delay(CHECK_AGAIN_MS)
}

/** The answer of `/readyz`. */
export async function readyAnswer({ checks, degradations, build }: ReadyOptions): Promise<ReadyAnswer> {
  const { ready, checks: results } = await runChecks(checks)
  const degraded = ready && degradations ? await degradationsWithin(CHECK_TIMEOUT_MS, degradations) : []
  const { version, commit } = build
  return {
    status: ready ? 200 : 503,
    body: {
      status: ready ? (degraded.length > 0 ? 'degraded' : 'ready') : 'unavailable',
      checks: results,
      degraded,
      version,
      commit,
      startedAt: STARTED_AT,
    },
  }
}

async function degradationsWithin(
  timeoutMs: number,
  degradations: () => Promise<Degradation[]>,
): Promise<Degradation[]> {
  let found: Degradation[] = [UNSEEN]
  const ask = async () => {
    found = await degradations()
  }
  const result = await outcome(ask, timeoutMs)
  return result === 'ok' ? found : [UNSEEN]
}

/** The reason is left out, because an error names hosts and this route is open to all. */
const UNSEEN = { reason: 'unseen', message: 'Redis did not answer what it would lose.' }

export async function runChecks(checks: Checks, timeoutMs = CHECK_TIMEOUT_MS): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, timeoutMs)] as const),
  )
  return {
    ready: results.every(([, result]) => result === 'ok'),
    checks: Object.fromEntries(results),
  }
}

/** The check of a service that listens before it is ready. It fails until `done` is called. */
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
  const giveUp = () => late.resolve(`no answer within ${timeoutMs} ms`)
  // Node runs due timers before it reads sockets, and the answer may have come while the process stood still.
  const timer = setTimeout(() => setImmediate(giveUp), timeoutMs)
  try {
    return await Promise.race([late.promise, check().then(() => 'ok')])
  } catch (error) {
    return errorFields(error).message
  } finally {
    clearTimeout(timer)
  }
}
