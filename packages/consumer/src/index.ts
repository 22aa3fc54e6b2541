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
export type { Consumer, StopOptions } from './queue-consumer.ts'
export { RequestError, type RequestFailure, RequestRefused } from './requests/request-errors.ts'
export {
  createRequester,
  type Requester,
  type RequesterOptions,
  type RequestOptions,
} from './requests/requester.ts'
export { type RequestContext, type RequestHandler, respond } from './requests/responder.ts'
export type {
  HandleProblem,
  HandleResult,
  MessageAttribute,
  MessageSource,
  QueueMessage,
  ReceiveRequest,
} from './sources/messages.ts'
export { type FantailQueueOptions, QueueError } from './sources/native-api.ts'
export { fantailQueue } from './sources/native-source.ts'
export { type SqsOptions, sqs } from './sources/sqs-source.ts'
