/**
 * Builds a delivery worker, layer by layer (wiring/). A layer knows the layers below it, and a class knows other
 * classes only by the objects that it gets there. The path of a delivery:
 *
 *   DispatchConsumer ─▶ Dispatcher ─▶ FirstAttempts ──2xx──▶ done
 *                                       └─▶ Parking ─▶ lanes ─▶ LaneLoop ─▶ ClaimAttempts ─▶ Endings ─▶ Settling
 *                                FIFO: LogReaders ─▶ lanes
 */
import { closeAttempters } from '@fantail/delivery'
import { createStartSteps, joinTravel } from '@fantail/runtime'
import { type Redis, VaultKeys } from '@fantail/store'
import { createTraveller } from './clocks/worker-travel.ts'
import { observeFifoLogs, observeLanes } from './lanes/lane-gauges.ts'
import { PushConsumers } from './push-consumers/push-consumers.ts'
import { createDispatching } from './wiring/dispatching.ts'
import { createEnding } from './wiring/ending.ts'
import { createLaneWork } from './wiring/lane-work.ts'
import { listenForWakes } from './wiring/wakes.ts'
import { createAttempting } from './wiring/worker-attempting.ts'
import { createGround } from './wiring/worker-ground.ts'
import type { DeliveryWorkerOptions } from './wiring/worker-options.ts'

export interface DeliveryWorker {
  /**
   * Starts the worker. Each step is repeated until Redis allows it. Rejects if the signal is aborted, if Redis is not
   * of the kind that the settings name, and with the UnusableDataError of `checkData`.
   */
  start(signal?: AbortSignal, checkData?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
  redis: Redis
  /** Work in progress, for the gauges. */
  figures(): { attempts: number; queued: number; jobs: number }
  /** For the list of processes. */
  slots(): { used: number; max: number }
}

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { log, travel, sender, vault, telemetry } = options
  const ground = { ...createGround(options), log }
  const attempting = { ...ground, ...createAttempting(ground, options) }
  const ending = { ...attempting, ...createEnding(attempting, options) }
  const dispatching = { ...ending, ...createDispatching(ending, options) }
  const worker = { ...dispatching, ...createLaneWork(dispatching, options) }
  const { connections, redis, lanes, now, slots, firstAttempts, dispatcher, laneLoop, claimAttempts } = worker
  const pushConsumers = new PushConsumers({ ...worker, sender, vault, metrics: telemetry.metrics })
  const traveller = createTraveller({ ...worker, pushConsumers })
  worker.freed.notify(firstAttempts, dispatcher, laneLoop)
  redis.on('ready', () => {
    claimAttempts.reconnected()
    laneLoop.reconnected()
  })
  listenForWakes(worker.subscriber, worker)
  telemetry.metrics.observeLanes(() => observeLanes({ redis, lanes, now }))
  telemetry.metrics.observeFifoLogs(() => observeFifoLogs({ redis, now }))
  return {
    redis,
    figures: () => ({ attempts: slots.inFlight, queued: firstAttempts.queued, jobs: dispatcher.runs }),
    slots: () => ({ used: slots.inFlight, max: options.attemptsMax }),
    async start(signal, checkData) {
      await connections.whenChecked(signal)
      const step = createStartSteps({ log, signal })
      if (checkData) await step(checkData)
      if (travel) await step(() => joinTravel({ connections, settings: travel, traveller, log }))
      if (options.checkMasterKey) {
        await step(() => new VaultKeys(redis).check(vault?.keyIds ?? []))
      }
      worker.links.key = await step(() => worker.mail.linkKey())
      laneLoop.start()
      pushConsumers.start()
      await worker.consumers.start()
      await worker.sweep.start()
    },
    async stop() {
      // New work ends first. Then queued deliveries are parked, and running attempts end and are settled. Connections
      // close last.
      const { parking, pacing, settling, recorder, attemptRecorder, notes, stats, events } = worker
      const jobsDone = worker.consumers.stop()
      const pushesDone = pushConsumers.stop()
      await Promise.all([laneLoop.stop(), worker.sweep.stop()])
      await worker.readers.stop()
      await Promise.all([firstAttempts.stop(), claimAttempts.stop(), worker.batches.stop()])
      await Promise.all([parking.whenIdle(), pacing.whenIdle(), settling.whenIdle()])
      await jobsDone
      await pushesDone
      worker.live.stop()
      await Promise.all([recorder.stop(), attemptRecorder.stop(), notes.stop(), stats.stop(), events.close()])
      await closeAttempters(worker.attempters)
      await sender.close()
      connections.disconnect()
    },
  }
}
