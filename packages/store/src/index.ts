export type { Redis } from 'ioredis'
export { ApiKeys } from './api-keys.ts'
export { batch } from './batch.ts'
export { busyLanes, shardsInUse } from './busy-lanes.ts'
export { catchUp, catchUpWith, readNow, readSlowestTime } from './clock.ts'
export { isCluster, masterOfShard, mastersOf, nodeOf } from './cluster.ts'
export { ConfirmationLimits } from './confirmation-limits.ts'
export { createConfirmationToken } from './confirmation-token.ts'
export {
  CONSUMER_DEFAULTS,
  type ConsumerSettings,
  Consumers,
  type ConsumerWithBatches,
  type Share,
} from './consumers.ts'
export { CountedQueues, countedWaits } from './counted-queues.ts'
export { Counts } from './counts.ts'
export type { CodeSlots, DispatchEntry } from './dispatch-entry.ts'
export { DISPATCH_QUEUES_MAX, dispatchTag } from './dispatch-tags.ts'
export { FifoLog, type FifoReceipt } from './fifo-log.ts'
export { fifoLogFigures } from './fifo-log-figures.ts'
export { FifoReading, type LogEntry, type LogMove, type LogMoved } from './fifo-reading.ts'
export { HeldWrites, writeMark } from './held-writes.ts'
export { Idempotency, type IdempotentPublish, underTopic } from './idempotency.ts'
export { holdJobLock } from './job-lock.ts'
export { KeyLimits, type TokensAsked, type TokensGiven } from './key-limits.ts'
export {
  dispatchJobKey,
  dueKey,
  idempotencyKey,
  laneKey,
  messageKey,
  outcomeLogKey,
  queueKey,
  redriveKey,
  redrivingKey,
  signingPairKey,
  sliceKey,
  subscriptionsKey,
  topicKey,
  WAKE_CHANGES,
  WAKE_CONSUMERS,
  WAKE_LANES,
  WAKE_QUEUES,
  WAKE_REDRIVES,
} from './keys.ts'
export type { LaneStore } from './lane-api.ts'
export {
  batchField,
  type Claim,
  type ClaimedLane,
  type DeadState,
  deliveryId,
  type LaneFigures,
  type LaneRenewal,
  type LaneResult,
  type LogClaim,
  type ParkAs,
  type ParkEntry,
  type ParkJob,
  type ParkMessage,
  type ParkOutcome,
  type ParkRequest,
  parseDeliveryId,
  type RenewedClaim,
  type RetryState,
  type Settlement,
  type SettleTo,
  type ShardTimes,
  type Standing,
  type SweepRequest,
  type SweepResult,
  type TakeResult,
} from './lane-records.ts'
export { Lanes } from './lanes.ts'
export { takeRole } from './leader.ts'
export { type MoveReport, moveData } from './move/move-data.ts'
export { noteParts, readParts } from './note-parts.ts'
export { inOneWrite } from './one-write.ts'
export type { LaneEntry, LaneOutcome } from './outcome-entries.ts'
export { type FilteredEntry, type SlotRun, type SlotsText, slotRuns, slotsText } from './outcome-filtered.ts'
export { type MessageSummary, OutcomeLog } from './outcome-log.ts'
export type { DeliveryOutcome } from './outcome-rows.ts'
export { decodeCursor, encodeCursor, type Page, replies } from './pages.ts'
export { Plans, type SliceData, type SliceRef } from './plans.ts'
export { deletedOutcomes, generationOf, QUARANTINE_DELETED } from './quarantine/deleted-entry.ts'
export { IsolatedMessages } from './quarantine/isolated-messages.ts'
export { moveOlderLists } from './quarantine/older-lists.ts'
export { Quarantine, type Quarantined } from './quarantine/quarantine.ts'
export type { NewEntry, QuarantineEntry } from './quarantine/quarantine-entry.ts'
export { AttemptChangedError, OverLimitError } from './queue-errors.ts'
export { queueFigures } from './queue-figures.ts'
export { deadLetterItemId, deliveryItemId } from './queue-ids.ts'
export type {
  HandleError,
  HandleResult,
  PeekRequest,
  QueueCounts,
  QueueSettings,
  QueueWithCounts,
  ReceiveTurn,
  SendItem,
  SentItem,
  VisibilityChange,
} from './queue-records.ts'
export { QueueWaits, type WaitingReceive } from './queue-waits.ts'
export { Queues } from './queues.ts'
export { type RedisMode, refuseWrong, WrongRedisError, whenReached } from './reach.ts'
export {
  type ConnectOptions,
  connect,
  connectSubscriber,
  connectTo,
  ping,
  placeOptions,
  reconnectOnError,
  retryStrategy,
  whenReady,
} from './redis.ts'
export { type RedriveBatch, RedriveBatches, type RedriveRun } from './redrive-batches.ts'
export { Redrives } from './redrives.ts'
export { SCRIPT_CLASSES, type ScriptName } from './script-classes.ts'
export { readScript } from './scripts.ts'
export { SHARD_COUNT, shardBase, shardOf } from './shards.ts'
export { SigningKeys } from './signing-keys.ts'
export { keySlot } from './slots.ts'
export { isOutOfMemory, isTrouble, storageError } from './storage-errors.ts'
export { type MemorySample, readMemory, readTopicBytes, StorageGuard } from './storage-guard.ts'
export {
  type ListSubscriptions,
  type NewSubscription,
  Subscriptions,
  TopicFullError,
} from './subscriptions.ts'
export { placeOfSubscription } from './subscriptions-id.ts'
export { type CountedTopic, type SubscriptionCounts, type TopicSettings, Topics } from './topics.ts'
export { CorruptRecordError } from './topics-record.ts'
export { MasterKeyError, VaultKeys } from './vault-keys.ts'
