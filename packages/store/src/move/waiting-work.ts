/** Counts the waiting work in a Redis from its keys alone. A move must find the same counts on both sides. */
import type { Redis } from 'ioredis'
import { batch } from '../redis/batch.ts'
import { mastersOf } from '../redis/connections/cluster.ts'
import { replies } from '../redis/pages.ts'

const SCAN_COUNT = 1_000
/** Begins the name of every key of Fantail. */
export const OUR_PREFIX = 'ft:'

export interface WaitingWork {
  /** Deliveries in lanes. `inFlight` counts the part of them that is in flight. */
  waiting: number
  inFlight: number
  /** Messages in the logs of FIFO topics. */
  logged: number
  /** Dispatch jobs: groups of published messages. */
  jobs: number
  /** Messages in queues, dead letters included. */
  queued: number
}

/**
 * For each kind of key: a pattern of its name after the hash tag, the figure to which its length is added, and the
 * command that returns the length.
 */
const COUNTED: [RegExp, keyof WaitingWork, 'zcard' | 'llen'][] = [
  [/^(fresh|retry):/, 'waiting', 'zcard'],
  [/^behind:/, 'waiting', 'llen'],
  [/^lease:/, 'inFlight', 'zcard'],
  [/^log:/, 'logged', 'llen'],
  [/^dispatch-\d+:(wait|active|paused)$/, 'jobs', 'llen'],
  [/^dispatch-\d+:(delayed|prioritized|waiting-children)$/, 'jobs', 'zcard'],
  [/^q:[^:]+:age$/, 'queued', 'zcard'],
]

export async function countWaitingWork(redis: Redis): Promise<WaitingWork> {
  const work: WaitingWork = { waiting: 0, inFlight: 0, logged: 0, jobs: 0, queued: 0 }
  for (const master of mastersOf(redis)) {
    for await (const keys of keysOf(master)) await addUp(master, keys, work)
  }
  return work
}

/** Every key of Fantail on one server. Some come more than once. */
export async function* keysOf(server: Redis): AsyncGenerator<Buffer[]> {
  for (let cursor = '0'; ; ) {
    const [next, keys] = await server.scanBuffer(cursor, 'MATCH', `${OUR_PREFIX}*`, 'COUNT', SCAN_COUNT)
    yield keys
    cursor = String(next)
    if (cursor === '0') return
  }
}

async function addUp(master: Redis, keys: Buffer[], work: WaitingWork): Promise<void> {
  const counted = keys.flatMap((key) => {
    const text = key.toString('latin1')
    const name = text.slice(text.indexOf('}:') + 2)
    const [, of, command] = COUNTED.find(([pattern]) => pattern.test(name)) ?? []
    return of && command ? [{ key, of, command }] : []
  })
  const asked = batch(master)
  for (const { key, command } of counted) asked[command](key)
  const lengths = (await replies(asked)) as number[]
  for (const [i, { of }] of counted.entries()) work[of] += lengths[i] ?? 0
}
