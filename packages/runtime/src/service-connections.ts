/** The connections of a service to Redis. One log line for each change of the main one. */
import type { RedisTarget } from '@fantail/contracts'
import { connect, connectSubscriber, type Redis, ReplicaAcks, whenServerChecked } from '@fantail/store'
import type { Logger } from './logger.ts'
import { createStateLog } from './state-log.ts'

interface ServiceConnectionsOptions {
  redisUrl: RedisTarget
  /** Shown by CLIENT LIST, with an ending for all but the main connection. */
  name: string
  /** Name of the main connection, where it says more. */
  mainName?: string
  minReplicas: number
  /** Too few replicas are an error, because a caller waits for the answer. */
  strict?: boolean
  log: Logger
}

export interface ServiceConnections {
  redis: Redis
  /** For wakes. Its users subscribe at each 'ready'. */
  subscriber: Redis
  /** On a separate connection if replicas are awaited, because a wait blocks its connection. */
  acks: ReplicaAcks
  /**
   * Resolves when the main connection can be used. Rejects by the signal, or where that is another kind of Redis than
   * was named.
   */
  whenChecked(signal?: AbortSignal): Promise<void>
  disconnect(): void
}

export function openConnections(options: ServiceConnectionsOptions): ServiceConnections {
  const { redisUrl: url, name, mainName = name, minReplicas, strict = false, log } = options
  const redis = connect({ url, name: mainName, onState: createStateLog({ log, what: 'redis' }) })
  const subscriber = connectSubscriber({ url, name: `${name}-wakes` })
  const acksRedis = minReplicas > 0 ? connect({ url, name: `${name}-held` }) : redis
  const onProblem = (error: Error) => log.error({ err: error }, 'redis.misnamed')
  return {
    redis,
    subscriber,
    acks: new ReplicaAcks(acksRedis, { minReplicas, strict }),
    whenChecked: (signal) => whenServerChecked({ redis, target: url, onProblem, signal }),
    disconnect() {
      subscriber.disconnect()
      redis.disconnect()
      acksRedis.disconnect()
    },
  }
}
