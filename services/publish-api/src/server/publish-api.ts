/**
 * Builds the API process, layer by layer (wiring/): connections, stores, reports, attempts and keys, then the
 * dependencies of the app and what runs beside requests. The start makes the app and the server.
 */
import cluster from 'node:cluster'
import { closeAttempters } from '@fantail/delivery'
import type { Checks } from '@fantail/runtime'
import type { Redis } from '@fantail/store'
import { createApp } from './app.ts'
import { type ApiServer, listen, type Tls } from './server.ts'
import { checkStart, whenConnected } from './start-checks.ts'
import { reportSettings } from './start-reports.ts'
import { createAttempting } from './wiring/api-attempting.ts'
import { createApiGround } from './wiring/api-ground.ts'
import type { PublishApiOptions } from './wiring/api-options.ts'
import { createApiStores } from './wiring/api-stores.ts'
import { createCallerKeys } from './wiring/caller-keys.ts'
import { createDeps } from './wiring/dependencies.ts'
import { createReporting } from './wiring/reporting.ts'
import { createWatches } from './wiring/watches.ts'

interface ServedApiOptions extends PublishApiOptions {
  /** Serves https. */
  tls?: Tls | undefined
  /** Ends the process because of a problem that is found only when Redis answers. */
  fail: (error: unknown) => void
}

export interface PublishApi {
  redis: Redis
  checks: Checks
  /** The port that it listens on. Only valid after `start`. */
  readonly port: number
  /**
   * Listens at once. While Redis is unreachable it answers 503. Rejects if the port is taken, or if Redis is not of the
   * right kind, and with the UnusableDataError of `checkData`.
   */
  start(signal?: AbortSignal, checkData?: () => Promise<void>): Promise<void>
  /** Finishes the requests under way, then closes every connection. */
  stop(): Promise<void>
}

export function createPublishApi(options: ServedApiOptions): PublishApi {
  const { settings, log } = options
  const ground = createApiGround(options)
  const stores = createApiStores(ground, options)
  const reporting = createReporting(ground, options)
  const layers = {
    ...stores,
    ...reporting,
    ...createAttempting({ ...ground, ...stores, ...reporting }, options),
    ...createCallerKeys(ground, stores.storageGuard, options),
  }
  const deps = createDeps(ground, layers, options)
  const { bulkRunner, serviceNotes, notices } = createWatches(ground, layers, { deps, options })
  let server: ApiServer | undefined
  const stop = async () => {
    const { publisher, sender, redisClock, connections } = ground
    const noted = serviceNotes.stop()
    const told = notices.stop()
    await bulkRunner.stop()
    layers.queueWaits.close()
    layers.moveQuestions.stop()
    await layers.events.stop()
    await server?.close()
    layers.live.stop()
    await told
    await Promise.all([publisher.close(), closeAttempters(layers.attempters), layers.schemaCompiler.stop()])
    await sender.close()
    await noted
    await Promise.all([layers.statsCounter.stop(), layers.auditWriter.stop()])
    redisClock.stop()
    connections.disconnect()
  }
  const start = async (checkData = async () => {}) => {
    if (cluster.isWorker) await whenConnected(deps.checks)
    server = await listen(createApp(deps), { ...settings, tls: options.tls })
    await checkStart({
      connections: ground.connections,
      vault: options.vault,
      checkMasterKey: settings.mode === 'server' || settings.masterKey !== undefined,
      checkData,
      joinTravel: () => ground.travel.join(stores),
      log,
      fail: options.fail,
    })
    log.info({ host: settings.host, port: server.port }, 'api.listening')
    serviceNotes.start()
    void notices.start()
    bulkRunner.start()
    reportSettings(ground.redis, deps, settings)
  }
  return {
    redis: ground.redis,
    checks: { publisher: ground.checkPublisher },
    get port() {
      return server?.port ?? settings.port
    },
    start: (_signal, checkData) =>
      start(checkData).catch(async (error) => {
        await stop()
        throw error
      }),
    stop,
  }
}
