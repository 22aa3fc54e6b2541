/**
 * A service of Fantail as a process: its settings are read, its files opened, Redis found, telemetry started, then the
 * service itself. SIGTERM or SIGINT ends it in the opposite order. A service describes only what is its own.
 */
import { createOwnHosts, type OwnHostsSettings, type RedisPlace } from '@fantail/config'
import { ping, type Redis, refuseDataLoss, refuseWrong, StorageHealthReader } from '@fantail/store'
import type { Telemetry } from '@fantail/telemetry'
import { type Begun, beginService } from './begin-service.ts'
import { createStartCheck, type ReadyOptions } from './health/checks.ts'
import { createOpsServer, type OpsServer } from './health/ops-server.ts'
import { createLogger, type Logger } from './logger.ts'
import { runProcess } from './run-process.ts'

interface ServiceSettings extends RedisPlace, OwnHostsSettings {
  host: string
  /** Port for health, readiness and metrics. Absent: the service serves them itself. */
  opsPort?: number
  /** Whether the metrics of SNS and SQS are shown too. Absent: the service does nothing that they would count. */
  awsMetrics?: boolean
  commit?: string | undefined
  minReplicas: number
  /** Whether server mode takes a Redis that would lose accepted messages. */
  allowVolatileRedis: boolean
  /** Stands for maxmemory where Redis has none. */
  redisMemoryBytes?: number | undefined
}

interface ServiceDescription<S extends ServiceSettings, F> {
  name: string
  /** Throws where a setting is wrong. */
  readSettings(env: NodeJS.ProcessEnv): S
  /** Files that settings name. They are opened before Redis is waited for, so that a wrong one is reported at once. */
  openFiles(settings: S): Promise<F>
  /** Wires the service. Nothing of it runs before its `start`. */
  create(given: ServiceBasics<S, F>): RunningService
}

interface ServiceBasics<S, F> extends Begun {
  settings: S
  files: F
  log: Logger
  /** Ends the process. It is for what keeps a service from its work and is found when it has started. */
  fail(error: unknown): void
}

interface RunningService {
  /** Readiness is judged by this connection. */
  redis: Redis
  /**
   * Repeats each step until Redis lets it. Rejects by the signal, or where repeating mends nothing. `checkStorage`
   * comes before any work; its DataLossError is final.
   */
  start(signal: AbortSignal, checkStorage: () => Promise<void>): Promise<void>
  /** Takes nothing new, ends what is under way, then closes. */
  stop(): Promise<void>
}

interface Started {
  running: RunningService
  health: OpsServer | undefined
  telemetry: Telemetry
}

/** Never returns: the process ends with 0 after a clean stop, else with 1. */
export function runService<S extends ServiceSettings, F>(service: ServiceDescription<S, F>): Promise<never> {
  const { name } = service
  const log = createLogger({ service: name, level: process.env.FANTAIL_LOG_LEVEL })
  return runProcess({ name, log, start: (signal, fail) => start(service, { log, signal, fail }), stop })
}

async function start<S extends ServiceSettings, F>(
  { name, readSettings, openFiles, create }: ServiceDescription<S, F>,
  { log, signal, fail }: { log: Logger; signal: AbortSignal; fail: (error: unknown) => void },
): Promise<Started> {
  const settings = readSettings(process.env)
  const files = await openFiles(settings)
  const { awsMetrics = false } = settings
  const { redisUrl, telemetry, build } = await beginService({ name, log, settings, awsMetrics, signal })
  await refuseWrong(redisUrl)
  const running = create({ settings, files, redisUrl, telemetry, build, log, fail })
  const { minReplicas, redisMemoryBytes: memoryBytes } = settings
  const storage = new StorageHealthReader({ redis: running.redis, minReplicas, memoryBytes })
  const startCheck = createStartCheck()
  const health = await openHealthPort(settings, {
    log,
    checks: { redis: () => ping(running.redis), start: startCheck.check },
    degradations: () => storage.degradations(),
    build,
    metrics: () => telemetry.renderMetrics(),
  })
  await running.start(signal, () => refuseDataLoss({ health: storage, log, settings }))
  startCheck.done()
  return { running, health, telemetry }
}

async function stop({ running, health, telemetry }: Started): Promise<void> {
  await running.stop()
  await health?.stop()
  await telemetry.stop()
}

async function openHealthPort(
  settings: ServiceSettings,
  answers: ReadyOptions & { log: Logger; metrics: () => Promise<string> },
): Promise<OpsServer | undefined> {
  const { host, opsPort: port } = settings
  if (port === undefined) return undefined
  const server = createOpsServer({ host, port, ownHosts: createOwnHosts(settings), ...answers })
  await server.start()
  answers.log.info({ host, port: server.port() }, 'ops.listening')
  return server
}
