export type { EventGap, EventsOptions, EventsState, LiveEvent } from './events/live-events.ts'
export { FantailError, type FantailErrorCode, type Problem } from './failures/client-error.ts'
export { Fantail } from './fantail-client.ts'
export type {
  BatchEntryOptions,
  BatchPublisher,
  BatchPublisherOptions,
} from './publishing/batch-publisher.ts'
export type { Listing } from './resources/listing.ts'
export type { MessageHandle } from './resources/message-handle.ts'
export type { QueueHandle, SendOptions } from './resources/queue-handle.ts'
export type { RedriveHandle } from './resources/redrive-handle.ts'
export type { SubscriptionFilter, SubscriptionHandle } from './resources/subscription-handle.ts'
export type { Content, PublishOptions, TopicHandle } from './resources/topic-handle.ts'
export type { Attempt, FantailOptions, RetryMode } from './settings/client-settings.ts'
export type { CallOptions } from './transport/core-request.ts'
export { type ReceivedParts, type ReceivedRequest, VerifyError } from './verifying/received-request.ts'
export { type VerifySnsOptions, verifySnsMessage } from './verifying/verify-sns-message.ts'
export { type VerifyWebhookOptions, verifyWebhook } from './verifying/verify-webhook.ts'
export type { WebhookEvent } from './verifying/webhook-event.ts'
