/** The first steps of every service after its settings are read: it finds Redis and starts telemetry. */
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
import { type RedisPlace, resolveRedisUrl } from '@fantail/config'
import type { RedisTarget } from '@fantail/contracts'
import { createMetrics, startTelemetry, type Telemetry } from '@fantail/telemetry'
import { type Build, readBuild } from './health/build.ts'
import { STARTED_AT } from './health/checks.ts'
import type { Logger } from './loops/logger.ts'

/**
 * How long Node tries one address of a name with several before it drops the address. It holds for connections to Redis
 * and to collectors of telemetry. Node's default of 250 ms excludes distant servers, and addresses whose first packet
 * was lost, because a SYN is repeated after a second. Connections to endpoints drop no address (address-race.ts).
 */
const ADDRESS_MS = 2_500

interface ServiceBase {
  name: string
  log: Logger
  settings: RedisPlace & { commit?: string | undefined }
  /** Whether the code of scrapes is loaded at the first scrape. */
  scrapesLater: boolean
  /** Whether the metrics of SNS and SQS are shown too. */
  awsMetrics: boolean
  /** Aborted if the process must stop before it has started. */
  signal: AbortSignal
}

export interface Begun {
  redisUrl: RedisTarget
  telemetry: Telemetry
  build: Build
}

/** Waits for a local Redis without a limit. Rejects with the signal's reason when aborted. */
export async function beginService(options: ServiceBase): Promise<Begun> {
  const { name, log, settings, scrapesLater, awsMetrics, signal } = options
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_MS)
  const build = readBuild(settings.commit)
  const { version, commit, problem } = build
  log.info({ version, commit, startedAt: STARTED_AT }, `${name}.starting`)
  if (problem !== undefined) log.warn({ detail: problem }, 'build.read_failed')
  const redisUrl = await resolveRedisUrl(settings, {
    signal,
    onWait: (path) => log.info({ path }, 'redis.awaited'),
  })
  const metrics = createMetrics({ aws: awsMetrics })
  metrics.showBuild({ version, commit, startedAt: STARTED_AT })
  const telemetry = await startTelemetry({
    service: name,
    metrics,
    scrapesLater,
    onProblem: (detail) => log.warn({ detail }, 'telemetry.failed'),
  })
  return { redisUrl, telemetry, build }
}
