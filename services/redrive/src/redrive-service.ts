/**
 * Builds the redrive service, layer by layer (wiring/): ground, archives, tasks, and the sweeps of all data. A layer
 * knows the layers below it.
 */
import { createStartSteps, joinTravel } from '@fantail/runtime'
import type { Redis, Traveller } from '@fantail/store'
import { createMaintenance } from './upkeep/maintenance.ts'
import { createArchiveWork } from './wiring/archive-work.ts'
import { createRedriveGround } from './wiring/redrive-ground.ts'
import type { RedriveServiceOptions } from './wiring/redrive-options.ts'
import { sweepsOf } from './wiring/sweeps.ts'
import { createTaskWork } from './wiring/task-work.ts'

export interface RedriveService {
  redis: Redis
  /**
   * Starts the service. Each step is repeated until Redis allows it. Rejects if the signal is aborted, or if Redis is
   * not of the kind that the settings name.
   */
  start(signal?: AbortSignal, checkData?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export function createRedriveService(options: RedriveServiceOptions): RedriveService {
  const { redisUrl, log, telemetry, travel, sweepEveryMs } = options
  const ground = createRedriveGround(options)
  const archiving = { ...ground, ...createArchiveWork(ground, options) }
  const service = { ...archiving, ...createTaskWork(archiving, options) }
  const { connections, redis, clock, blocks, archiver, tasks, live } = service
  const maintenance = createMaintenance({
    redisUrl,
    redis,
    log,
    telemetry,
    ...(sweepEveryMs === undefined ? {} : { everyMs: sweepEveryMs }),
    sweeps: sweepsOf(service),
  })
  const traveller: Traveller = {
    moved: () => maintenance.moved(),
    work: () => ({
      // A task that was just started has no job yet.
      busy: tasks.adding > 0 ? [`${tasks.adding} redrives that begin`] : [],
      activity: tasks.pausesEnded,
      waitingJobs: { redrive: tasks.pausing },
    }),
  }
  return {
    redis,
    async start(signal, checkData) {
      await connections.whenChecked(signal)
      const step = createStartSteps({ log, signal })
      if (checkData) await step(checkData)
      if (travel) await step(() => joinTravel({ connections, settings: travel, traveller, log }))
      await Promise.all([tasks.start(step), maintenance.start(step)])
      archiver?.start()
    },
    async stop() {
      service.stopHearing()
      await Promise.all([tasks.stop(), maintenance.stop(), archiver?.stop()])
      await blocks?.close()
      live.stop()
      clock.stop()
      connections.disconnect()
    },
  }
}
