/** One question to one server, on a new connection: connected once, answered within a second, and closed. */
import type { Redis, RedisOptions } from 'ioredis'

/** @limit One question to a server on a connection of its own. Past it: the question has failed. */
const QUESTION_TIMEOUT_MS = 1_000

/** Options of the connection; `name` is shown by CLIENT LIST. */
export function askOptions(name: string): RedisOptions {
  return {
    retryStrategy: () => null,
    enableReadyCheck: false,
    connectTimeout: QUESTION_TIMEOUT_MS,
    commandTimeout: QUESTION_TIMEOUT_MS,
    connectionName: name,
  }
}

/** Rejects as `ask` does, where the server does not answer. */
export async function askOnce<T>(redis: Redis, ask: (redis: Redis) => Promise<T>): Promise<T> {
  // The question reports what happens to the connection.
  redis.on('error', () => undefined)
  try {
    return await ask(redis)
  } finally {
    redis.disconnect()
  }
}
