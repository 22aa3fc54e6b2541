export type { Queue, Telemetry } from 'bullmq'
export {
  createTelemetry,
  createWorker,
  dispatchQueueName,
  openQueue,
  queuePrefix,
  STALLED_BUSY_MS,
  STALLED_IDLE_MS,
} from './bullmq/bull.ts'
export { TroubleGuard } from './bullmq/trouble-guard.ts'
export { DispatchConsumer } from './consuming/dispatch-consumer.ts'
export { DispatchConsumers } from './consuming/dispatch-consumers.ts'
export type { DispatchRun, RunEnd } from './consuming/dispatch-run.ts'
export { RunCopies } from './consuming/run-copies.ts'
export type { DispatchPart } from './dispatch-job.ts'
export { createPublisher, type Publisher } from './publishing/publisher.ts'
