export type { Redis } from 'ioredis'
export { API_KEY, ApiKeys } from './access/api-keys.ts'
export { keyHolderName, MissingKeyError, refuseMissingKey } from './access/key-holders.ts'
export { KeyLimits, type TokensAsked, type TokensGiven } from './access/key-limits.ts'
export { PORTAL_LINK_MS_MAX, PortalSessions } from './access/portal-sessions.ts'
export { SESSION_MS_MAX, type SessionRecord, Sessions } from './access/sessions.ts'
export { SigningKeys } from './access/signing-keys.ts'
export { MasterKeyError, VaultKeys } from './access/vault-keys.ts'
export type { ArchivedTopic, BlockStore } from './archive/archive-blocks.ts'
export { ArchivePages } from './archive/archive-pages.ts'
export { type ArchiveFigures, Archives, archivedTopics, archiveFigures } from './archive/archives.ts'
export { type AttemptRecord, sealAnswer } from './attempts/attempt-record.ts'
export { AttemptRecorder } from './attempts/attempt-recorder.ts'
export { AttemptStore } from './attempts/attempt-store.ts'
export { AuditReader } from './audit/audit-reader.ts'
export { type AuditStream, AuditWriter, type StoredAuditLine } from './audit/audit-writer.ts'
export { LaneSurvey, type SurveyedLane } from './board/lane-survey.ts'
export {
  BULK_LEASE_MS,
  type BulkClaim,
  type BulkOutcome,
  BulkTasks,
  type NewBulkTask,
  type OpenBatch,
} from './bulk/bulk-tasks.ts'
export {
  type MemorySample,
  PUBLISH_SHARE,
  readMemory,
  readTopicBytes,
  StorageGuard,
} from './capacity/storage-guard.ts'
export {
  ARCHIVED_FOR_MS,
  ARCHIVED_ROLE,
  DATA_RISKS,
  modesMixed,
  refuseDataLoss,
  StorageHealthReader,
} from './capacity/storage-health.ts'
export { followConnection, openSince } from './copies/open-connections.ts'
export {
  type CheckpointNames,
  readCheckpointNames,
  type ServerMark,
  ServerMarks,
} from './copies/server-marks.ts'
export { Credentials } from './credentials/own-credentials.ts'
export { Idempotency, type IdempotentPublish, underTopic } from './dispatch/idempotency.ts'
export { holdJobLock, noteParts, readParts } from './dispatch/job-lock.ts'
export { Erasure } from './erasure/erasure.ts'
export { EventTypes } from './event-types/event-types.ts'
export type { LiveNotice } from './events/live-groups.ts'
export { INTEREST_MS, type Interest, type InterestNotice, isWanted } from './events/live-interest.ts'
export { hearListeners, LiveSender } from './events/live-sender.ts'
export {
  countEvents,
  type DeliveryEvent,
  type EventCount,
  eventsOf,
  type LoggedEvent,
} from './events/log-events.ts'
export {
  compareBundles,
  formatPosition,
  type LogPosition,
  type PlaceInBundle,
  parsePosition,
  wasSeen,
} from './events/log-position.ts'
export { type LogBundle, OutcomeReader } from './events/outcome-reader.ts'
export { SliceFinder } from './events/slice-finder.ts'
export { FifoLog, type FifoReceipt, fifoLogFigures } from './fifo/fifo-log.ts'
export { FifoReading, type LogEntry, type LogMove, type LogMoved } from './fifo/fifo-reading.ts'
export { isWorthKeepingWhole, type KeptJob, type NewKept } from './kept/kept-jobs.ts'
export { KeptMessages, type NotKept } from './kept/kept-messages.ts'
export { KeptSearch, SEARCH_MS_MAX } from './kept/kept-search.ts'
export { KEPT_GIVE_WAY_SHARE, KeptUpkeep } from './kept/kept-upkeep.ts'
export {
  changesEchoes,
  dataFormatKey,
  dispatchJobKey,
  dueKey,
  idempotencyKey,
  laneKey,
  liveChannel,
  messageKey,
  outcomeLogKey,
  QUARANTINE_BASE,
  queueKey,
  redriveKey,
  redrivingKey,
  signingPairKey,
  sliceKey,
  subscriptionsKey,
  topicKey,
  travelAnswers,
  travelQuestions,
  WAKE_CHANGES,
  WAKE_CREDENTIALS,
  WAKE_LANES,
  WAKE_LISTENERS,
  WAKE_MOVED,
  WAKE_PUSH_CONSUMERS,
  WAKE_QUEUES,
  WAKE_REDRIVES,
} from './keys/keys.ts'
export { SHARD_COUNT, shardBase, shardOf } from './keys/shards.ts'
export { DISPATCH_QUEUES_MAX, dispatchTag, keySlot } from './keys/slots.ts'
export { busyLanes, shardsInUse } from './lanes/busy-lanes.ts'
export { countDueDeliveries } from './lanes/due-deliveries.ts'
export { mendDueSets } from './lanes/due-sets.ts'
export { drainAtFailureRate, drainOf } from './lanes/figures/drain.ts'
export { type Judged, verdictOf } from './lanes/figures/verdict.ts'
export type { Verdict } from './lanes/figures/verdict-sentence.ts'
export {
  DISTANT_SEND_AHEAD_MS,
  SEND_LATE_MS_MAX,
  sendLateMsMax,
} from './lanes/lane-throttle/send-time-bounds.ts'
export type { SetAside } from './lanes/lane-upkeep.ts'
export { Lanes } from './lanes/lanes.ts'
export {
  deliveryGeneration,
  deliveryId,
  parseDeliveryId,
  redrivesOf,
  resentGeneration,
} from './lanes/records/generations.ts'
export {
  type AttemptNote,
  batchField,
  type Claim,
  type ClaimedLane,
  type DeadState,
  type LaneFigures,
  type LaneRenewal,
  type LaneResult,
  LEASE_MARGIN_MS,
  type LogClaim,
  type ParkAs,
  type ParkEntry,
  type ParkedJob,
  type ParkJob,
  type ParkMessage,
  type ParkOutcome,
  type ParkRequest,
  type ParkResult,
  type RenewedClaim,
  type RetryState,
  type Settlement,
  type SettleTo,
  type ShardTimes,
  type Standing,
  type SweepRequest,
  type SweepResult,
  type TakeRequest,
  type TakeResult,
} from './lanes/records/lane-records.ts'
export { LinkKey, MailState } from './mail/mail-state.ts'
export { type Suppression, Suppressions } from './mail/suppressions.ts'
export { MobilePushState } from './mobile-push/mobile-push-state.ts'
export { PlatformApplications } from './mobile-push/platform-applications.ts'
export { PlatformEndpoints, TokenTakenError } from './mobile-push/platform-endpoints.ts'
export { type MoveReport, moveData } from './move/move-data.ts'
export { countArchivedTexts, countSealedTexts } from './move/sealed-counts.ts'
export { readStoredData, type StoredData } from './move/stored-data.ts'
export { type AlarmPlace, type NamedAlarm, OpenAlarms } from './notices/open-alarms.ts'
export { Counts } from './outcomes/counts.ts'
export {
  deletedOutcomes,
  generationOf,
  isOfDeliveries,
  QUARANTINE_DELETED,
} from './outcomes/deleted-entry.ts'
export type { CodeBits, DispatchEntry } from './outcomes/dispatch-entry.ts'
export { FailedEnds } from './outcomes/failed-ends.ts'
export type { LaneEntry, LaneOutcome } from './outcomes/outcome-entries.ts'
export {
  type BitRun,
  type BitsText,
  bitRuns,
  bitsText,
  type FilteredEntry,
} from './outcomes/outcome-filtered.ts'
export { type MessageSummary, OutcomeLog } from './outcomes/outcome-log.ts'
export type { DeliveryOutcome } from './outcomes/outcome-rows.ts'
export type { FoundMessage } from './outcomes/search/found-messages.ts'
export { OutcomeSearch } from './outcomes/search/outcome-search.ts'
export { readTotals, type Totals } from './overview/totals.ts'
export { refuseUnknownData, UnknownDataError, useData } from './processes/data-format.ts'
export { OWN_FORMAT } from './processes/own-format.ts'
export { Processes, type ProcessReport, REPORT_MS, SILENT_MS } from './processes/processes.ts'
export {
  PUSH_CONSUMER,
  PushConsumerRecords,
  type PushConsumerSettings,
  type PushConsumerWithBatches,
  type PushLease,
} from './push-consumers/push-consumer-records.ts'
export { IsolatedMessages } from './quarantine/isolated-messages.ts'
export { Quarantine, type Quarantined } from './quarantine/quarantine.ts'
export type { NewEntry, QuarantineEntry } from './quarantine/quarantine-entry.ts'
export { UnreadableRecords } from './quarantine/unreadable-records.ts'
export { QUEUE, type QueueSettings } from './queues/definitions/queue-fields.ts'
export { AttemptChangedError, OverLimitError } from './queues/items/queue-errors.ts'
export { deadLetterItemId, deliveryItemId, redrivenItemId } from './queues/items/queue-ids.ts'
export type {
  HandleError,
  HandleResult,
  PeekRequest,
  QueueCounts,
  QueueUse,
  QueueWithCounts,
  Received,
  SendItem,
  SentItem,
  VisibilityChange,
} from './queues/items/queue-records.ts'
export { sealedEdit } from './queues/kinds/queue-sending.ts'
export { type OnLeaseEnd, SERVICE_NOTE_MS } from './queues/leases/queue-leases.ts'
export type { GroupedLetters, LetterGroup } from './queues/letters/letter-groups.ts'
export { LetterQuota, type LetterShares, type RemovedLetter } from './queues/letters/letter-quota.ts'
export { TopicQueues, topicQueueArns } from './queues/letters/topic-queues.ts'
export { QueueWaits, type WaitingReceive } from './queues/queue-waits.ts'
export { Queues, queueFigures } from './queues/queues.ts'
export { Quotas } from './quotas/quotas.ts'
export { bytesOfQuotas, StoredBytes } from './quotas/stored-bytes.ts'
export { sumRecord } from './records/checksums.ts'
export type { ShownMember } from './records/fields.ts'
export {
  bodiesOfJob,
  contentIfReadable,
  isJobText,
  jobText,
  messageBody,
  readContent,
  readMessage,
  type StorableMessage,
} from './records/message-bodies.ts'
export { REDRIVE } from './records/redrive-fields.ts'
export {
  type BodySeals,
  isSealed,
  openMessage,
  SealedWhenStored,
  SealKeyError,
  sealMessage,
} from './records/sealed-messages.ts'
export { UnreadableRecordError } from './records/stored-json.ts'
export {
  SUBSCRIPTION,
  type SUBSCRIPTION_FIELDS,
  type SubscriptionSettings,
} from './records/subscription-fields.ts'
export { placeOfSubscription } from './records/subscriptions-id.ts'
export { TOPIC, type TopicSettings } from './records/topic-fields.ts'
export { batch } from './redis/batch.ts'
export { catchUp, catchUpWith, readNow, readSlowestTime } from './redis/clock.ts'
export { isCluster, masterOfShard, mastersOf, nodeOf } from './redis/connections/cluster.ts'
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
} from './redis/connections/connect.ts'
export { closeGate, openGate } from './redis/connections/report-gate.ts'
export {
  type RedisMode,
  refuseWrong,
  WrongRedisError,
  whenServerChecked,
} from './redis/connections/server-kind.ts'
export { keepRole, takeRole } from './redis/leader.ts'
export { inOneWrite } from './redis/one-write.ts'
export { allItems, decodeCursor, encodeCursor, type Page, replies } from './redis/pages.ts'
export { ReplicaAcks, type ReplicaAcksOptions, ReplicaWatch, writeBarrier } from './redis/replica-acks.ts'
export { SCRIPT_CLASSES, type ScriptName } from './redis/script-classes.ts'
export { readScript } from './redis/scripts.ts'
export { SHARDS_AT_ONCE, sideBySide } from './redis/side-by-side.ts'
export { isOutOfMemory, isScriptFault, isTrouble, storageError } from './redis/storage-errors.ts'
export { ifReadable, isUnreadable } from './redis/unreadable.ts'
export { UnusableDataError } from './redis/unusable-data.ts'
export { RedriveBatches } from './redrives/redrive-batches.ts'
export type { RedriveBatch, RedriveRun } from './redrives/redrive-moves.ts'
export { Redrives } from './redrives/redrives.ts'
export { releaseEnded, sweepHolds } from './redrives/replay-holds.ts'
export { orderIn, ResendBatches } from './redrives/resend-batches.ts'
export { NUMBER } from './scripts/lua-numbers.ts'
export { SandboxNumbers } from './sms/sandbox-numbers.ts'
export { SmsState } from './sms/sms-state.ts'
export { bucketOf } from './stats/log-buckets.ts'
export { StatsCounter } from './stats/stats-counter.ts'
export { type SeriesKind, type Stats, StatsStore } from './stats/stats-store.ts'
export type { Tally } from './stats/tally.ts'
export type { WeekFigures } from './stats/week-figures.ts'
export { openStreamWriter } from './streams/stream-writer.ts'
export { ConfirmationLimits } from './subscriptions/confirmation-limits.ts'
export { createConfirmationToken } from './subscriptions/confirmation-token.ts'
export {
  type ListSubscriptions,
  type NewSubscription,
  Subscriptions,
  TopicFullError,
} from './subscriptions/subscriptions.ts'
export { type PackedSlice, type SliceData, type SliceRef, Snapshots } from './topics/snapshots.ts'
export { type CountedTopic, type SubscriptionCounts, Topics } from './topics/topics.ts'
export { type PassingTimer, passingTime } from './travel/passing-clock.ts'
export {
  followTravel,
  type TravelAnswer,
  type Traveller,
  type TravelQuestion,
  type WorkInHand,
} from './travel/travel-listener.ts'
export {
  checkTravel,
  type DueWork,
  moveTime,
  readWork,
  type StoredWork,
  TravelledDataError,
} from './travel/travel-store.ts'
