/**
 * The faults of a run and their times. Each process has its own sequence of faults, and so have Redis and the bucket of
 * archives. Faults of different sequences may overlap. Faults of one sequence do not.
 */
import type { Seeded } from './seeded.ts'

export const PROCESSES = ['api-0', 'api-1', 'worker-0', 'worker-1', 'worker-2', 'redrive'] as const
export type ProcessLabel = (typeof PROCESSES)[number]

type ProcessFault =
  /** SIGKILL. The process is started again after `downMs`. */
  | { kind: 'kill'; of: ProcessLabel; downMs: number }
  /** SIGSTOP, and SIGCONT after `forMs`. */
  | { kind: 'freeze'; of: ProcessLabel; forMs: number }

export type RedisFault =
  | { kind: 'redis-kill'; signal: 'SIGKILL' | 'SIGTERM'; downMs: number }
  | { kind: 'redis-freeze'; forMs: number }
  /** The replica is `lagMs` behind for a while, then the master dies. It comes back as the replica after `downMs`. */
  | { kind: 'failover'; lagMs: number; laggingMs: number; downMs: number }
  | { kind: 'client-kill'; type: 'normal' | 'pubsub' }
  | { kind: 'client-pause'; mode: 'ALL' | 'WRITE'; forMs: number }
  | { kind: 'script-flush' }
  /** maxmemory is set to the memory in use. */
  | { kind: 'full-memory'; forMs: number }
  /** From now on the clock is this many seconds off. */
  | { kind: 'clock'; of: 'worker-0' | 'redis'; seconds: number }

/** The bucket of archives answers 503 for a while. */
type ArchiveFault = { kind: 'archive-away'; forMs: number }

export type Fault = (ProcessFault | RedisFault | ArchiveFault) & { at: number }

interface FaultPlanOptions {
  endMs: number
  replicated: boolean
}

/**
 * No fault begins before this time, so that every endpoint gets some messages first. No fault begins in the last part
 * of the run either.
 */
const QUIET_START_MS = 2_000
const QUIET_END_MS = 1_000
/** Between the end of one fault of a process and the next. */
const PROCESS_PAUSE_MS = { from: 4_000, to: 16_000 }
const REDIS_PAUSE_MS = { from: 2_000, to: 6_000 }
/** Shorter runs have no fault of the bucket, because a replay that it stops goes on only after a minute. */
const ARCHIVE_FAULTS_FROM_MS = 60_000
const ARCHIVE_PAUSE_MS = { from: 5_000, to: 20_000 }
const FREEZE_MS = { from: 1_000, to: 8_000 }
const DOWN_MS = { from: 0, to: 3_000 }
/**
 * Forward and back together, the clock moves by less than the five minutes for which a FIFO topic recognises
 * duplicates.
 */
const CLOCK_SECONDS = { from: -120, to: 120 }
/** Time after another fault in which the replica catches up and the workers begin to wait for it again. */
const BEFORE_FAILOVER_MS = 9_000

export function planFaults(seeded: Seeded, options: FaultPlanOptions): Fault[] {
  const lines = PROCESSES.map((of) => planProcess(seeded.fork(of), of, options))
  const others = [planRedis(seeded.fork('redis'), options), planArchive(seeded.fork('archive'), options)]
  return [...lines, ...others].flat().sort((a, b) => a.at - b.at)
}

function planArchive(seeded: Seeded, { endMs }: FaultPlanOptions): Fault[] {
  if (endMs < ARCHIVE_FAULTS_FROM_MS) return []
  const faults: Fault[] = []
  const pause = () => seeded.between(ARCHIVE_PAUSE_MS.from, ARCHIVE_PAUSE_MS.to)
  for (let at = QUIET_START_MS + pause(); at < endMs - QUIET_END_MS; at += pause()) {
    const forMs = seeded.between(FREEZE_MS.from, FREEZE_MS.to)
    faults.push({ at, kind: 'archive-away', forMs })
    at += forMs
  }
  return faults
}

function planProcess(seeded: Seeded, of: ProcessLabel, { endMs }: FaultPlanOptions): Fault[] {
  const faults: Fault[] = []
  const pause = () => seeded.between(PROCESS_PAUSE_MS.from, PROCESS_PAUSE_MS.to)
  for (let at = QUIET_START_MS + seeded.between(0, PROCESS_PAUSE_MS.to); at < endMs - QUIET_END_MS; ) {
    if (seeded.chance(0.6)) {
      const downMs = seeded.chance(0.5) ? 0 : seeded.between(DOWN_MS.from, DOWN_MS.to)
      faults.push({ at, kind: 'kill', of, downMs })
      at += downMs
    } else {
      const forMs = seeded.between(FREEZE_MS.from, FREEZE_MS.to)
      faults.push({ at, kind: 'freeze', of, forMs })
      at += forMs
    }
    at += pause()
  }
  return faults
}

const REDIS_KINDS = [
  'redis-kill',
  'redis-freeze',
  'client-kill',
  'client-kill',
  'client-pause',
  'script-flush',
  'full-memory',
  'clock',
] as const

function planRedis(seeded: Seeded, { endMs, replicated }: FaultPlanOptions): Fault[] {
  const faults: Fault[] = []
  for (let at = QUIET_START_MS + seeded.between(0, REDIS_PAUSE_MS.to); at < endMs - QUIET_END_MS; ) {
    const failsOver = replicated && seeded.chance(0.2)
    if (failsOver) at += BEFORE_FAILOVER_MS
    const fault = failsOver ? failover(seeded) : redisFault(seeded)
    faults.push({ at, ...fault })
    at += lengthOf(fault) + seeded.between(REDIS_PAUSE_MS.from, REDIS_PAUSE_MS.to)
  }
  return faults.filter(({ at }) => at < endMs - QUIET_END_MS)
}

/** The replica is behind by less than the second that a write waits for replicas. */
function failover(seeded: Seeded): RedisFault {
  return {
    kind: 'failover',
    lagMs: seeded.between(20, 400),
    laggingMs: seeded.between(500, 2_000),
    downMs: seeded.between(500, 3_000),
  }
}

function redisFault(seeded: Seeded): RedisFault {
  const kind = seeded.pick(REDIS_KINDS)
  switch (kind) {
    case 'redis-kill':
      return { kind, signal: seeded.pick(['SIGKILL', 'SIGTERM']), downMs: seeded.between(0, 3_000) }
    case 'redis-freeze':
      return { kind, forMs: seeded.between(500, 4_000) }
    case 'client-kill':
      return { kind, type: seeded.pick(['normal', 'normal', 'pubsub']) }
    case 'client-pause':
      return { kind, mode: seeded.pick(['ALL', 'WRITE']), forMs: seeded.between(300, 4_000) }
    case 'script-flush':
      return { kind }
    case 'full-memory':
      return { kind, forMs: seeded.between(500, 4_000) }
    case 'clock':
      return {
        kind,
        of: seeded.pick(['worker-0', 'redis']),
        seconds: seeded.between(CLOCK_SECONDS.from, CLOCK_SECONDS.to),
      }
  }
}

function lengthOf(fault: RedisFault): number {
  if (fault.kind === 'failover') return fault.laggingMs + fault.downMs
  if ('forMs' in fault) return fault.forMs
  return 'downMs' in fault ? fault.downMs : 0
}
