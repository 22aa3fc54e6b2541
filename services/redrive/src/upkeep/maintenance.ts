/**
 * Runs sweeps once a minute, in one process at a time. A BullMQ scheduler makes one job a minute, whatever the number
 * of processes, and the queue runs one job at a time. If a sweep fails, the others still run.
 */
import type { RedisTarget } from '@fantail/contracts'
import { createWorker, openQueue, type Queue, type Telemetry, TroubleGuard } from '@fantail/jobs'
import { createLoop, createStateLog, type Logger, type StartStep } from '@fantail/runtime'
import { passingTime, type Redis } from '@fantail/store'

const MAINTENANCE_QUEUE = 'maintenance'
const MAINTENANCE_MS = 60_000
/** A sweep whose process was killed starts again after this time at the latest, half the time between two sweeps. */
const STALLED_SWEEP_MS = 30_000
/** The scheduler is written again after this time, because Redis may have lost it. */
const SCHEDULE_MS = 600_000

interface MaintenanceOptions {
  redisUrl: RedisTarget
  redis: Redis
  log: Logger
  /** Sweeps by name. Each returns how much it did. `failed`: whether one before it has failed. */
  sweeps: Record<string, (failed: boolean) => Promise<number>>
  everyMs?: number
  telemetry?: Telemetry | undefined
}

interface Maintenance {
  start(step: StartStep): Promise<void>
  stop(): Promise<void>
  /** Called when time travel has moved the time. A sweep follows if one is due now. */
  moved(): Promise<void>
}

export function createMaintenance(options: MaintenanceOptions): Maintenance {
  const { redis, log, redisUrl, telemetry, everyMs = MAINTENANCE_MS } = options
  const sweep = createSweep(options)
  const report = createStateLog({ log, what: 'maintenance', initial: 'up' })
  let queue: Queue<object> | undefined
  let sweptAt = passingTime.now()
  const process = async () => {
    sweptAt = passingTime.now()
    await sweep()
    report('up')
  }
  const worker = createWorker<object>({
    name: MAINTENANCE_QUEUE,
    url: redisUrl,
    jobsMax: 1,
    process,
    telemetry,
  })
  worker.opts.stalledInterval = STALLED_SWEEP_MS
  const trouble = new TroubleGuard(worker, redis, log)
  const failed = (error: Error) => {
    if (!trouble.notice(error)) report('down', error)
  }
  worker.on('error', failed)
  const schedule = createLoop({
    name: 'maintenance_schedule',
    log,
    round: async () => {
      await queue?.setGlobalConcurrency(1)
      await queue?.upsertJobScheduler('sweep', { every: everyMs }, { name: 'sweep', opts: { attempts: 1 } })
      return SCHEDULE_MS
    },
  })
  return {
    async start(step) {
      const settings = { name: MAINTENANCE_QUEUE, connection: redis, telemetry }
      queue = await step(() => openQueue<object>(settings, failed))
      await worker.waitUntilReady()
      // `run` resolves after close(). An error before that is an error of the start.
      void worker.run().catch(failed)
      schedule.start()
    },
    async moved() {
      // The scheduler counts real time.
      if (passingTime.now() - sweptAt >= everyMs) await queue?.add('sweep', {}, { attempts: 1 })
    },
    async stop() {
      trouble.stop()
      await schedule.stop()
      await worker.close()
      await queue?.close()
    },
  }
}

/** `dueSets` → `sweep_due_sets`, because names of log lines are in snake case. */
const logNameOf = (sweep: string) =>
  `sweep_${sweep.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`

/**
 * Runs all sweeps, one after the other. It logs one line if there was work, and one for each change of a sweep's state.
 */
function createSweep({ sweeps, log }: MaintenanceOptions): () => Promise<void> {
  const tells = new Map(
    Object.keys(sweeps).map((name) => [name, createStateLog({ log, what: logNameOf(name), initial: 'up' })]),
  )
  return async () => {
    const from = performance.now()
    const swept: Record<string, number> = {}
    let failed = false
    for (const [name, sweep] of Object.entries(sweeps)) {
      const report = tells.get(name)
      try {
        const count = await sweep(failed)
        if (count > 0) swept[name] = count
        report?.('up')
      } catch (error) {
        failed = true
        report?.('down', error)
      }
    }
    const durationMs = Math.round(performance.now() - from)
    if (Object.keys(swept).length > 0) log.info({ ...swept, durationMs }, 'maintenance.swept')
  }
}
