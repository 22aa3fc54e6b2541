/** Asks one server one question on a new connection, which is closed within about a second. */
import type { Redis, RedisOptions } from 'ioredis'

/** One question to a server on a connection of its own. Past it: the question has failed. */
const QUESTION_TIMEOUT_MS = 1_000

/** Options of the connection. CLIENT LIST shows `name`. */
export function askOptions(name: string): RedisOptions {
  return {
    retryStrategy: () => null,
    enableReadyCheck: false,
    connectTimeout: QUESTION_TIMEOUT_MS,
    commandTimeout: QUESTION_TIMEOUT_MS,
    connectionName: name,
  }
}

/** Asks the question. Rejects if the server does not answer. */
export async function askOnce<T>(redis: Redis, ask: (redis: Redis) => Promise<T>): Promise<T> {
  // The question fails with the connection, so this event needs no handling.
  redis.on('error', () => undefined)
  try {
    return await ask(redis)
  } finally {
    redis.disconnect()
  }
}
