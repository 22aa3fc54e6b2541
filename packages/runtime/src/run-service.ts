/**
 * Runs a service of Fantail as a process. Settings are read, files are opened, Redis is found, telemetry is started,
 * and then the service itself. SIGTERM or SIGINT ends everything in the opposite order. A service describes only the
 * parts in which it differs.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createOwnHosts, type OwnHostsSettings, type RedisPlace } from '@fantail/config'
import {
  ApiKeys,
  Processes,
  ping,
  type Redis,
  refuseDataLoss,
  refuseWrong,
  StorageHealthReader,
} from '@fantail/store'
import type { Telemetry } from '@fantail/telemetry'
import { type Begun, beginService } from './begin-service.ts'
import { type Checks, createStartCheck, type ReadyOptions, whenReady } from './health/checks.ts'
import { createHeartbeat, type Heartbeat } from './health/heartbeat.ts'
import {
  createMetricsAccess,
  type MetricsAccessSettings,
  type PermitMetrics,
} from './health/metrics-access.ts'
import { createOpsServer, type OpsServer } from './health/ops-server.ts'
import { createLogger, type Logger } from './loops/logger.ts'
import { runProcess } from './run-process.ts'
import { makeObjectsYoung } from './young-objects.ts'

/** How long a stopping process waits until it has left the list of processes. Past it: it drains meanwhile. */
const LEAVE_FIRST_MS = 50
/** @limit Time that a process of `fantail all` waits for its port for health and metrics. Past it: it ends. */
const OPS_PORT_WAIT_MS = 20_000

interface ServiceSettings extends RedisPlace, OwnHostsSettings, MetricsAccessSettings {
  host: string
  /** Port for health, readiness and metrics. Absent: the service serves them itself. */
  opsPort?: number | undefined
  /** Whether the metrics of SNS and SQS are shown too. Absent: the service counts nothing for them. */
  awsMetrics?: boolean
  commit?: string | undefined
  minReplicas: number
  /** Whether server mode accepts a Redis that would lose accepted messages. */
  allowVolatileRedis: boolean
  /** Used instead of Redis's maxmemory if none is set. */
  redisMemoryBytes?: number | undefined
}

interface ServiceDescription<S extends ServiceSettings, F> {
  name: string
  /** Throws if a setting is wrong. */
  readSettings(env: NodeJS.ProcessEnv): S
  /**
   * Opens the files that settings name. This happens before the wait for Redis, so that a wrong file is reported at
   * once.
   */
  openFiles(settings: S, log: Logger): Promise<F>
  /** Whether BullMQ records metrics of its own in this process. */
  usesMeters?: boolean
  /** Builds the service. Nothing of it runs before its `start`. */
  create(given: ServiceBasics<S, F>): RunningService
}

interface ServiceBasics<S, F> extends Begun {
  settings: S
  files: F
  log: Logger
  /** Ends the process. It is for errors that appear after the start and keep the service from working. */
  fail(error: unknown): void
}

interface RunningService {
  /** The connection by which readiness is judged. */
  redis: Redis
  /**
   * Starts the service. Each step that needs Redis is repeated until it works. Rejects if the signal is aborted, or
   * with an error that repetition cannot solve. `checkData` must run before any work; its UnusableDataError is final.
   */
  start(signal: AbortSignal, checkData: () => Promise<void>): Promise<void>
  /** Accepts nothing new, finishes the work in progress, then closes. */
  stop(): Promise<void>
  /** Readiness needs these besides Redis and the start. */
  checks?: Checks
  /** Attempts under way, and how many there may be. Absent: the service makes none. */
  slots?(): { used: number; max: number }
}

interface Started {
  running: RunningService
  health: OpsServer | undefined
  heartbeat: Heartbeat
  telemetry: Telemetry
}

/** Never returns: see runProcess. */
export function runService<S extends ServiceSettings, F>(service: ServiceDescription<S, F>): Promise<never> {
  makeObjectsYoung()
  const { name } = service
  const log = createLogger({ service: name, level: process.env.FANTAIL_LOG_LEVEL })
  return runProcess({ name, log, start: (signal, fail) => start(service, { log, signal, fail }), stop })
}

async function start<S extends ServiceSettings, F>(
  { name, readSettings, openFiles, usesMeters = false, create }: ServiceDescription<S, F>,
  { log, signal, fail }: { log: Logger; signal: AbortSignal; fail: (error: unknown) => void },
): Promise<Started> {
  const settings = readSettings(process.env)
  const files = await openFiles(settings, log)
  const { awsMetrics = false } = settings
  const scrapesLater = settings.mode === 'local' && !usesMeters
  const { redisUrl, telemetry, build } = await beginService({
    name,
    log,
    settings,
    scrapesLater,
    awsMetrics,
    signal,
  })
  await refuseWrong(redisUrl)
  const running = create({ settings, files, redisUrl, telemetry, build, log, fail })
  const { mode, minReplicas, redisMemoryBytes: memoryBytes } = settings
  const processes = new Processes(running.redis)
  const heartbeat = createHeartbeat({ processes, role: name, mode, build, running, log, fail })
  const storage = new StorageHealthReader({ redis: running.redis, mode, minReplicas, memoryBytes })
  const startCheck = createStartCheck()
  const checks = { redis: () => ping(running.redis), start: startCheck.check, ...running.checks }
  const health = await openHealthPort(settings, {
    log,
    fail,
    checks,
    degradations: () => storage.degradations(),
    build,
    metrics: () => telemetry.renderMetrics(),
    permitMetrics: createMetricsAccess(settings, new ApiKeys(running.redis)),
  })
  await running.start(signal, async () => {
    await heartbeat.join()
    await refuseDataLoss({ health: storage, log, settings })
  })
  startCheck.done()
  // `fantail all` replaces a process only when the new one is ready.
  if (process.connected) void sayWhenReady(checks, signal)
  return { running, health, heartbeat, telemetry }
}

/**
 * The process leaves the list first, because the service closes the connection. A slow Redis must not delay the drain.
 */
async function stop({ running, health, heartbeat, telemetry }: Started): Promise<void> {
  const left = heartbeat.stop()
  await Promise.race([left, delay(LEAVE_FIRST_MS)])
  await running.stop()
  await left
  await health?.stop()
  await telemetry.stop()
}

async function sayWhenReady(checks: Checks, signal: AbortSignal): Promise<void> {
  await whenReady(checks, signal)
  if (process.connected) process.send?.('ready')
}

async function openHealthPort(
  settings: ServiceSettings,
  answers: ReadyOptions & {
    log: Logger
    fail: (error: unknown) => void
    metrics: () => Promise<string>
    permitMetrics: PermitMetrics
  },
): Promise<OpsServer | undefined> {
  const { host, opsPort: port } = settings
  if (port === undefined) return undefined
  const server = createOpsServer({
    host,
    port,
    portWaitMs: process.connected ? OPS_PORT_WAIT_MS : 0,
    ownHosts: createOwnHosts(settings),
    ...answers,
  })
  const { log, fail } = answers
  const start = async () => {
    await server.start()
    log.info({ host, port: server.port() }, 'ops.listening')
  }
  // The process that this one replaces has the port until it ends, and it ends only when this one is ready.
  if (process.connected) start().catch(fail)
  else await start()
  return server
}
