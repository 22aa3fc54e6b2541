/** The connections of a service to Redis. A log line says when the main one goes down, and when it is up again. */
import type { RedisTarget } from '@fantail/contracts'
import {
  connect,
  connectSubscriber,
  type Redis,
  ReplicaAcks,
  ReplicaWatch,
  whenServerChecked,
} from '@fantail/store'
import type { Logger } from './loops/logger.ts'
import { createStateLog } from './loops/state-log.ts'

interface ServiceConnectionsOptions {
  redisUrl: RedisTarget
  /** The name in CLIENT LIST. Other connections than the main one add an ending. */
  name: string
  /** Name of the main connection, if it differs. */
  mainName?: string
  minReplicas: number
  /** Too few replicas are an error here, because a caller waits for the answer. */
  strict?: boolean
  log: Logger
}

export interface ServiceConnections {
  redis: Redis
  /** The connection for wakes. Its users must subscribe at each 'ready'. */
  subscriber: Redis
  /** Uses a separate connection if replicas are awaited, because WAIT blocks its connection. */
  acks: ReplicaAcks
  /** The outcomes of the waits of `acks`. */
  replicas: ReplicaWatch
  /**
   * Resolves when the main connection is usable. Rejects if the signal is aborted, or if Redis is not of the kind that
   * the settings name.
   */
  whenChecked(signal?: AbortSignal): Promise<void>
  disconnect(): void
}

export function openConnections(options: ServiceConnectionsOptions): ServiceConnections {
  const { redisUrl: url, name, mainName = name, minReplicas, strict = false, log } = options
  const redis = connect({ url, name: mainName, onState: createStateLog({ log, what: 'redis' }) })
  const subscriber = connectSubscriber({ url, name: `${name}-wakes` })
  const acksRedis = minReplicas > 0 ? connect({ url, name: `${name}-acks` }) : redis
  const replicas = new ReplicaWatch(createStateLog({ log, what: 'replicas', initial: 'up' }))
  const onProblem = (error: Error) => log.error({ err: error }, 'redis.misnamed')
  return {
    redis,
    subscriber,
    acks: new ReplicaAcks(acksRedis, { minReplicas, strict, onWait: replicas.onWait }),
    replicas,
    whenChecked: (signal) => whenServerChecked({ redis, target: url, onProblem, signal }),
    disconnect() {
      subscriber.disconnect()
      redis.disconnect()
      acksRedis.disconnect()
    },
  }
}
