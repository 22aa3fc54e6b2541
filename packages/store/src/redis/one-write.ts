/**
 * Sends commands to Redis in one write, so that they make one round trip: of several callers (on a cluster one write
 * per master), or as a transaction.
 */
import type { ChainableCommander, Redis } from 'ioredis'
import { isCluster, mastersOf } from './connections/cluster.ts'

/** All commands that `ask` sends before it returns go in one write. Their answers arrive as usual. */
export function inOneWrite<T>(redis: Redis, ask: () => T): T {
  const streams = mastersOf(redis).map(({ stream }) => stream as typeof stream | undefined)
  for (const stream of streams) stream?.cork()
  try {
    return ask()
  } finally {
    for (const stream of streams) stream?.uncork()
  }
}

/** Adds the commands. Their replies are those of `inTransaction`. */
type Add = (to: Redis | ChainableCommander) => unknown[]

/**
 * Runs commands on keys of one slot together: all of them, or none if Redis refuses one. No command of another
 * connection runs in between. Returns the replies in order. Throws the first error, also that of a command that failed
 * while the others ran. ioredis's own transaction is used only on a cluster, where it follows a slot to its new master,
 * because it takes 30 µs to begin.
 */
export async function inTransaction(redis: Redis, add: Add): Promise<unknown[]> {
  const results = isCluster(redis) ? await onCluster(redis, add) : await onConnection(redis, add)
  return (results ?? []).map(([error, reply]) => {
    if (error) throw error
    return reply
  })
}

type Results = [error: Error | null, reply: unknown][] | null

async function onCluster(redis: Redis, add: Add): Promise<Results> {
  const transaction = redis.multi()
  add(transaction)
  try {
    return await transaction.exec()
  } catch (error) {
    throw refusalIn(error) ?? error
  }
}

/** The reason of a transaction that was given up: Redis says why to the command that it refused. */
function refusalIn(error: unknown): unknown {
  return (error as { previousErrors?: unknown[] }).previousErrors?.[0]
}

async function onConnection(redis: Redis, add: Add): Promise<Results> {
  const answers = await Promise.allSettled(inOneWrite(redis, () => sendAll(redis, add)))
  const refused = answers.find(({ status }) => status === 'rejected')
  if (refused?.status === 'rejected') throw refused.reason
  return (answers.at(-1) as PromiseFulfilledResult<Results>).value
}

/** Nothing may leave the connection inside of a transaction, because it belongs to other callers too. */
function sendAll(redis: Redis, add: Add): unknown[] {
  const asked: unknown[] = [redis.multi({ pipeline: false })]
  try {
    asked.push(...add(redis), redis.exec())
  } catch (error) {
    asked.push(redis.discard(), Promise.reject(error))
  }
  return asked
}
