/**
 * Connects a command to its Redis. Fails with the reason if Redis does not answer within ten seconds, or if this
 * release must not use the data.
 */
import { type RedisPlace, redisUrlPath, resolveRedisUrl } from '@fantail/config'
import { FantailError, type RedisTarget } from '@fantail/contracts'
import { connect, type Redis, refuseUnknownData, whenServerChecked } from '@fantail/store'

/** The wait of a command for a Redis that does not answer. Past it: the command fails. */
const CLI_WAIT_MS = 10_000

interface CliRedis {
  /** Shown by CLIENT LIST. */
  name: string
  settings: RedisPlace
  waitMs?: number
}

/**
 * Runs `use` with a connection. Throws if Redis does not answer, is not of the kind that the settings name, or has data
 * that this release does not know.
 */
export async function withRedis<T>(
  { name, settings, waitMs = CLI_WAIT_MS }: CliRedis,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(waitMs)
  const target = await findRedis(settings, signal)
  let reason: Error | undefined
  const note = (_: unknown, error: Error | undefined) => {
    reason ??= error
  }
  const redis = connect({ url: target, name, onState: note })
  const onProblem = (error: Error) => {
    reason = error
  }
  try {
    await whenServerChecked({ redis, target, signal, onProblem }).catch((error: unknown) => {
      throw signal.aborted ? noAnswer(reason) : error
    })
    await refuseUnknownData(redis)
    return await use(redis)
  } finally {
    redis.disconnect()
  }
}

async function findRedis(settings: RedisPlace, signal: AbortSignal): Promise<RedisTarget> {
  try {
    return await resolveRedisUrl(settings, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    const message =
      `${redisUrlPath(settings.dataDir)} does not exist: no stack with its data there runs, and REDIS_URL is not ` +
      'set; FANTAIL_DATA_DIR names the folder of another stack'
    throw new FantailError('storage_unavailable', message)
  }
}

function noAnswer(cause: Error | undefined): FantailError {
  const why = cause?.cause instanceof Error ? cause.cause : cause
  const message = `Redis does not answer${why?.message ? `: ${why.message}` : ''}`
  return new FantailError('storage_unavailable', message, { cause })
}
