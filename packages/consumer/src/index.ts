/** Consumes queues of Fantail and of Amazon SQS. */
export { type AttemptCounts, type RedisAttemptCountsOptions, redisAttemptCounts } from './attempt-counts.ts'
export {
  type BatchHandler,
  type BatchOptions,
  type BatchResult,
  type ConsumeOptions,
  consume,
  consumeBatch,
  type Handler,
} from './consume.ts'
export type { ConsumerCounts, ConsumerEventMap, ProblemAction } from './consumer-events.ts'
export type { ConsumerOptions, FailedAttempt } from './consumer-options.ts'
export { HandlerAborted, type HandlerContext } from './handling.ts'
export type { LostReason } from './lease.ts'
export {
  type Claim,
  type Idempotency,
  type RedisEval,
  type RedisIdempotencyOptions,
  redisIdempotency,
} from './message-claims.ts'
export type {
  HandleProblem,
  HandleResult,
  MessageAttribute,
  MessageSource,
  QueueMessage,
  ReceiveRequest,
} from './messages.ts'
export { type FantailQueueOptions, fantailQueue, QueueError } from './native-source.ts'
export type { Consumer, StopOptions } from './queue-consumer.ts'
export { type SqsOptions, sqs } from './sqs-source.ts'
