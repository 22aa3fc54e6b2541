export type { AuditLine } from './access/audit-line.ts'
export type {
  PortalGrant,
  PortalLinkRecord,
  PortalSessionRecord,
} from './access/portal.ts'
export {
  type ApiKeyRecord,
  formatToken,
  KEY_ID,
  KEY_LIMITS_INHERITED_MAX,
  KEY_SCOPES,
  KEYS_MAX,
  type KeyKind,
  type KeyLimit,
  type KeyScope,
  parseToken,
  sealContextOf,
} from './api-key.ts'
export {
  ARN_DEFAULTS,
  type ArnDefaults,
  isFifoName,
  isQueueName,
  isTopicName,
  nameOfArn,
  parseArn,
  queueArn,
  resolveQueue,
  resolveSubscription,
  resolveTopic,
  subscriptionArn,
  topicArn,
  withoutSubscription,
} from './arn.ts'
export {
  DELIVERY_CAUSES,
  type DeliveryCause,
  type DrainUnknown,
  END_CAUSES,
  type EndCause,
  RETRY_CAUSES,
  type RetryCause,
  type StoredWhy,
  VERDICTS_IN_NEED,
  type VerdictCode,
  WAIT_CAUSES,
  type WaitCause,
  type Why,
} from './delivery-causes.ts'
export {
  areNumbers,
  DIRECT_LANES,
  directOwnerOf,
  directTopicArn,
  endpointOf,
  numbersArn,
} from './direct/direct-names.ts'
export { ERROR_MEANING, ERROR_STATUS, type ErrorCode, FantailError, type Problem } from './fantail-error.ts'
export { isObject, jsonOf, objectOf } from './json-values.ts'
export {
  APNS_TOKEN_CHARS_MAX,
  ATTEMPT_DEADLINE_MS,
  BATCH_MESSAGES_MAX,
  CONFIRMATION_MAILS_PER_ADDRESS_MAX,
  CONFIRMATION_MAILS_PER_KEY_MAX,
  CONFIRMATION_SECONDS,
  CONFIRMATIONS_PER_ENDPOINT_MAX,
  CONFIRMATIONS_PER_HOST_MAX,
  CONSUMER_BATCH_SIZE_DEFAULT,
  CONSUMER_CONCURRENCY_DEFAULT,
  CONSUMER_FIFO_BATCH_MAX,
  CONSUMER_NAME_CHARS_MAX,
  CONSUMER_TIMEOUT_SECONDS_DEFAULT,
  CONSUMERS_MAX,
  DISPLAY_NAME_CHARS_MAX,
  ENDPOINT_CHARS_MAX,
  FIFO_SUBSCRIPTIONS_MAX,
  IDEMPOTENCY_KEY_CHARS_MAX,
  IDEMPOTENCY_SECONDS,
  LIST_LIMIT_MAX,
  MAX_IN_FLIGHT_DEFAULT,
  MESSAGE_BYTES_MAX,
  MICROS_PER_USD,
  OPTED_OUT_NUMBERS_MAX,
  PLATFORM_CREDENTIAL_CHARS_MAX,
  PLATFORM_ENDPOINTS_MAX,
  PLATFORM_TOKEN_BYTES_MAX,
  PLATFORM_USER_DATA_BYTES_MAX,
  QUEUE_DELAY_SECONDS_MAX,
  QUEUE_MAX_RECEIVE_COUNT_MAX,
  QUEUE_MESSAGE_ATTRIBUTES_MAX,
  QUEUE_MESSAGE_BYTES_MAX,
  QUEUE_RECEIVE_MAX,
  QUEUE_RETENTION_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_DEFAULT,
  QUEUE_VISIBILITY_SECONDS_MAX,
  QUEUE_WAIT_SECONDS_MAX,
  REQUEST_BYTES_MAX,
  RESEND_RATE_DEFAULT,
  RETENTION_SECONDS_DEFAULT,
  RETENTION_SECONDS_MAX,
  RETENTION_SECONDS_MIN,
  RETRY_ON_DEFAULT,
  RETRY_ON_MEMBERS_MAX,
  RETRY_SECONDS_MAX,
  SANDBOX_NUMBERS_MAX,
  SLICE_SUBSCRIPTIONS_MAX,
  SMS_CHARS_MAX,
  SNAPSHOT_AGE_MS_MAX,
  SUPPRESSIONS_MAX,
  WEBHOOK_KEYS_MAX,
  WEBHOOK_OVERLAP_SECONDS_DEFAULT,
} from './limits.ts'
export { createMessageId, formatMessageId, parseMessageId, publishedAtOf } from './message-id.ts'
export {
  attributeNameProblem,
  attributeProblem,
  EDITED_FROM_ATTRIBUTE,
  fifoIdProblem,
  messageBytes,
  reservedValueProblem,
  SMS_SENDER_ID,
  structureProblem,
  subjectProblem,
  textProblem,
  toAttribute,
} from './message-rules.ts'
export { problemsOf } from './problems.ts'
export { isProtocol, PROTOCOLS, type Protocol } from './protocols.ts'
export {
  type EndpointEvent,
  type EndpointFailureType,
  EVENT_ATTRIBUTES,
  endpointEventText,
  eventTopicOf,
} from './push/platform-events.ts'
export {
  isPlatform,
  isPlatformApplicationName,
  PLATFORMS,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformCredential,
  type PlatformEndpointRecord,
  parsePlatformApplicationArn,
  parsePlatformEndpointArn,
  platformApplicationArn,
  platformEndpointArn,
  UNDELIVERED_PLATFORMS,
} from './push/platforms.ts'
export type { QuarantineReason } from './quarantine-reasons.ts'
export type {
  AnswerStart,
  AttemptErrorCode,
  AttemptedApplication,
  AttemptedText,
  AttemptResult,
  BackoffFunction,
  ConsumerRecord,
  DeadLetter,
  DeadLetterReason,
  DeliveryPolicy,
  EffectiveDeliveryPolicy,
  Feedback,
  FifoThroughputScope,
  FilterPolicy,
  FilterPolicyScope,
  Message,
  MessageAttribute,
  MessageKind,
  OutboundSettings,
  QueueMessage,
  QueueRecord,
  QueueRedrivePolicy,
  RedriveAction,
  RedriveAllowPolicy,
  RedriveEdit,
  RedriveFilter,
  RedrivePolicy,
  RedriveStatus,
  RedriveTask,
  RequestPolicy,
  ResultClass,
  RetryMode,
  RetryPolicy,
  SubscriptionMove,
  SubscriptionRecord,
  SubscriptionStatus,
  SuppressionReason,
  ThrottlePolicy,
  TopicRecord,
  WebhookAlgorithm,
  WebhookKey,
} from './records.ts'
export { DEAD_LETTER_REASONS } from './records.ts'
export {
  type HostPort,
  isRedisCluster,
  isRedisSentinels,
  type RedisAccess,
  type RedisCluster,
  type RedisSentinels,
  type RedisServer,
  type RedisTarget,
  type RedisTls,
} from './redis-target.ts'
export { AuditList, AuditListQuery } from './schemas/access/audit-schemas.ts'
export {
  KeyList,
  KeyListQuery,
  KeyReference,
  KeyView,
  NewKeyInput,
  NewKeyView,
} from './schemas/access/key-schemas.ts'
export { SessionListAnswer } from './schemas/access/session-list-schemas.ts'
export { LoginInput, SessionView } from './schemas/access/session-schemas.ts'
export { PreviewAnswer, PreviewInput } from './schemas/delivery-policy-schemas.ts'
export { EventsQuery, EventView } from './schemas/events/event-schemas.ts'
export {
  type AttemptDecision,
  type EndOfEvents,
  EVENT_TYPES,
  type EventType,
  type GapCause,
  LOGGED_EVENTS,
  UNLOGGED_EVENTS,
  type UnloggedEventType,
} from './schemas/events/event-types.ts'
export {
  FilterReplayAnswer,
  FilterReplayInput,
  FilterTestAnswer,
  FilterTestInput,
} from './schemas/filter-policy-schemas.ts'
export {
  AddressReference,
  BouncesAnswer,
  BouncesInput,
  NewSuppressionInput,
  SuppressionList,
  SuppressionListQuery,
  SuppressionView,
} from './schemas/mail-schemas.ts'
export { AttemptsAnswer } from './schemas/messages/attempt-schemas.ts'
export { DeliveriesAnswer, MessageView } from './schemas/messages/delivery-schemas.ts'
export {
  MessageBodyView,
  ResendAnswer,
  ResendCount,
  ResendInput,
  ResendSinceInput,
} from './schemas/messages/kept-schemas.ts'
export {
  BatchInput,
  DirectMessageInput,
  DirectMessageReceipt,
  IdempotencyKey,
  MessageInput,
  MessageReference,
  PublishAnswer,
  PublishInput,
  PublishQuery,
  TestInput,
} from './schemas/messages/message-schemas.ts'
export { MessageSearchAnswer, MessageSearchQuery } from './schemas/messages/message-search-schemas.ts'
export {
  type AttemptPhase,
  type AttemptRecording,
  type AttemptStage,
  RECORDED_BODY_BYTES_MAX,
  RECORDING_DEFAULT,
} from './schemas/messages/recording.ts'
export { OutboundInput, type OutboundView } from './schemas/outbound-schemas.ts'
export { OverviewView } from './schemas/overview-schemas.ts'
export {
  PortalAttemptList,
  PortalDeadLetterList,
  PortalDeliveryList,
  PortalEndpoint,
  PortalEndpointInput,
  PortalEndpointList,
  PortalEndpointReference,
  PortalRedriveAnswer,
  PortalTestAnswer,
  PortalTopicList,
} from './schemas/portal/portal-endpoint-schemas.ts'
export {
  NewPortalSessionView,
  PortalLinkInput,
  PortalLinkView,
  PortalRedeemInput,
  PortalSessionView,
} from './schemas/portal/portal-link-schemas.ts'
export {
  ApplicationReference,
  NewPlatformEndpointInput,
  PlatformApplicationInput,
  PlatformApplicationList,
  PlatformApplicationView,
  PlatformEndpointInput,
  PlatformEndpointList,
  PlatformEndpointReference,
  PlatformEndpointView,
  PlatformListQuery,
  PlatformReference,
} from './schemas/push-schemas.ts'
export {
  PutBackAnswer,
  QuarantineExport,
  QuarantineList,
  QuarantineListQuery,
  QuarantineReference,
} from './schemas/quarantine-schemas.ts'
export {
  ConsumerInput,
  ConsumerList,
  ConsumerListQuery,
  ConsumerReference,
  ConsumerView,
} from './schemas/queues/consumer-schemas.ts'
export {
  DeadLetterCounts,
  DeadLetterCountsQuery,
  type LetterGroupMember,
} from './schemas/queues/letter-group-schemas.ts'
export {
  PeekAnswer,
  PeekQuery,
  PurgeAnswer,
  PurgeInput,
} from './schemas/queues/queue-content-schemas.ts'
export { BatchFailures, QueueEvent } from './schemas/queues/queue-event-schemas.ts'
export {
  AckInput,
  HandleResults,
  QueueMessageReference,
  QueueMessageView,
  ReceivedAnswer,
  ReceiveInput,
  VisibilityInput,
} from './schemas/queues/queue-message-schemas.ts'
export { QueueInput, QueueList, QueueListQuery, QueueView } from './schemas/queues/queue-schemas.ts'
export {
  QueueBatchInput,
  QueueItemInput,
  QueueSendAnswer,
  QueueSendInput,
  unsendable,
} from './schemas/queues/queue-sending-schemas.ts'
export {
  DryRunAnswer,
  EditedRedrive,
  EditInput,
  RedriveInput,
  RedriveList,
  RedriveListQuery,
  RedriveRateInput,
  RedriveReference,
  RedriveView,
} from './schemas/redrive-schemas.ts'
export { AdvanceInput, HealthAnswer, ReadyAnswer, ServiceList } from './schemas/service-schemas.ts'
export {
  ErrorAnswer,
  NoBody,
  namedSchemas,
  QueueReference,
  requestSchemaNames,
  SubscriptionReference,
  TopicReference,
} from './schemas/shared-schemas.ts'
export {
  NumberReference,
  OptOutList,
  OptOutListQuery,
  OptOutView,
  SmsChanges,
  SmsView,
} from './schemas/sms-schemas.ts'
export { STATS_RANGES, StatsQuery, type StatsRange, StatsView } from './schemas/stats-schemas.ts'
export { LaneList, LaneListQuery } from './schemas/subscriptions/lane-list-schemas.ts'
export {
  ConfirmInput,
  DiscardedAnswer,
  MovedAnswer,
  RetryInput,
  TestAnswer,
} from './schemas/subscriptions/subscription-action-schemas.ts'
export {
  NewSubscriptionInput,
  SUBSCRIPTION_FIXED,
  SubscriptionInput,
  SubscriptionList,
  SubscriptionListQuery,
  SubscriptionView,
  TopicSubscriptionListQuery,
} from './schemas/subscriptions/subscription-schemas.ts'
export {
  NewWebhookKeyView,
  WebhookKeyInput,
  WebhookKeyList,
} from './schemas/subscriptions/webhook-key-schemas.ts'
export { TopicInput, TopicList, TopicListQuery, TopicView } from './schemas/topic-schemas.ts'
export { Confirmation, Notification, WEBHOOK_HEADERS } from './schemas/webhook-schemas.ts'
export { SYSTEM_POLICY } from './system-policy.ts'
