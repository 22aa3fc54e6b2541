/**
 * Looks once at the whole stack: is any work under way, and when is the next work due? Work may meanwhile move from a
 * process to Redis and back. So the processes are asked before and after Redis is read. Their counts show work that
 * began in between.
 */
import { type DueWork, type Redis, readWork, type StoredWork, type TravelAnswer } from '@fantail/store'
import type { Answers, TravelAsker } from './travel-asker.ts'

export interface StackState {
  /** Epoch ms of the stack. */
  now: number
  offsetMs: number
  /** Names of the work that is under way. Empty: the stack is at rest. */
  busy: string[]
  /** Work that is due later, in no order. */
  due: DueWork[]
  /** Work that the next sweeps would find now. */
  toSweep: DueWork[]
}

interface LookOptions {
  redis: Redis
  asker: Pick<TravelAsker, 'ask'>
  /** Full names of BullMQ's queues. */
  queues: readonly string[]
}

export async function readStackState(
  { redis, asker, queues }: LookOptions,
  offsetMs: number,
): Promise<StackState> {
  const before = await asker.ask(offsetMs)
  const early = wordsOf(before)
  if (early.length > 0) return { now: 0, offsetMs, busy: early, due: [], toSweep: [] }
  const stored = await readWork(redis, queues)
  const after = await asker.ask(offsetMs)
  const { now, swept } = stored
  const due = [...stored.due, ...after.answers.flatMap((answer) => timesOf(answer, now))]
  const late = due.filter(({ at }) => at <= now).map(({ what }) => `${what} is due`)
  const changed = activityOf(before) === activityOf(after) ? [] : ['work that has just begun']
  const busy = [...wordsOf(after), ...changed, ...jobsIn(stored, after), ...late]
  return {
    now,
    offsetMs: stored.offsetMs,
    busy,
    due: [...due, ...swept].filter(({ at }) => at > now),
    toSweep: swept.filter(({ at }) => at <= now),
  }
}

function wordsOf({ answers, missing }: Answers): string[] {
  const silent = missing > 0 ? [`${missing} processes that do not answer`] : []
  return [...answers.flatMap(({ busy }) => busy), ...silent]
}

function activityOf({ answers }: Answers): number {
  return answers.reduce((sum, { activity }) => sum + activity, 0)
}

function timesOf({ dueAt, nextInMs }: TravelAnswer, now: number): DueWork[] {
  const claim = dueAt === undefined ? [] : [{ at: dueAt, what: 'throttled claim' }]
  return nextInMs === null ? claim : [...claim, { at: now + Math.ceil(nextInMs), what: 'pause of a process' }]
}

/** Jobs that run or will run soon, without jobs that only wait for time to pass. */
function jobsIn({ queues }: StoredWork, { answers }: Answers): string[] {
  return queues.flatMap(({ name, waiting, active }) => {
    const short = name.slice(name.lastIndexOf(':') + 1)
    const pausing = answers.reduce((sum, { waitingJobs }) => sum + (waitingJobs?.[short] ?? 0), 0)
    const count = waiting + active - pausing
    return count > 0 ? [`${count} jobs of ${short}`] : []
  })
}
