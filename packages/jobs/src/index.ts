export type { Queue, Telemetry } from 'bullmq'
export {
  createTelemetry,
  createWorker,
  dispatchQueueName,
  openQueue,
  queuePrefix,
  STALLED_BUSY_MS,
  STALLED_IDLE_MS,
} from './bull.ts'
export { DispatchConsumer } from './dispatch-consumer.ts'
export { DispatchConsumers } from './dispatch-consumers.ts'
export { type DispatchPart, dispatchMessages } from './dispatch-job.ts'
export type { DispatchRun, RunEnd } from './dispatch-run.ts'
export { createPublisher, type Publisher } from './publisher.ts'
export { TroubleGuard } from './trouble-guard.ts'
