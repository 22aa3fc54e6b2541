export { type OpenBlockStore, openBlockStore } from './archive/block-stores.ts'
export {
  type Attempt,
  type AttemptDone,
  type Attempter,
  type Batching,
  type BatchLimits,
  DamagedDataError,
  type Outgoing,
} from './attempters/attempter.ts'
export type { ProtocolSettings } from './attempters/attempters.ts'
export {
  type Attempters,
  closeAttempters,
  createAttempters,
  UnconfiguredAttempter,
} from './attempters/attempters.ts'
export { createFunctionCalls } from './attempters/function-attempter.ts'
export { type Linked, LinkedList } from './connections/linked-list.ts'
export { unsignedFailure } from './envelope/attempt-request.ts'
export {
  compileEnvelope,
  type Envelope,
  type Links,
  queueBody,
  renderBody,
  textFor,
  textForProtocol,
} from './envelope/envelope.ts'
export { EnvelopeSigning } from './envelope/envelope-signing.ts'
export {
  compileTarget,
  type EndpointTarget,
  redactEndpoint,
  targetOfLetters,
} from './envelope/target.ts'
export { isUnsubscribeToken } from './envelope/unsubscribe-link.ts'
export { describeProblem, type FunctionCalls } from './functions/function-calls.ts'
export { Deadlines, type Expiring } from './http/deadlines.ts'
export { ExchangeTrace } from './http/exchange-trace.ts'
export type { FurtherCause, FurtherRequest, HttpRequest, SendMoment } from './http/http-request.ts'
export { createHttpSender, type HttpSender } from './http/http-sender.ts'
export type { KeepAnswer } from './http/kept-answer.ts'
export { shownHeaders } from './http/shown-headers.ts'
export type { MailTools } from './mail/mail-settings.ts'
export { unsubscribeLink } from './mail/render-mail.ts'
export { notificationProblem } from './mobile-push/mobile-notification.ts'
export {
  type MobilePushTools,
  openPlatformCredential,
  platformContext,
  sealPlatformCredential,
} from './mobile-push/mobile-push-tools.ts'
export { type AddressGuard, createAddressGuard } from './outbound/address-guard.ts'
export { hasCredentials, hideCredentials, maskCredentials } from './outbound/endpoint-credentials.ts'
export { readTokenUrl } from './outbound/oauth-client.ts'
export {
  checkTlsMaterial,
  compileRoute,
  hostOf,
  type OutboundOptions,
  readProxy,
} from './outbound/outbound-route.ts'
export {
  bodySealsOf,
  type KeptOutbound,
  keepOutbound,
  keepPushConsumer,
  NoVaultError,
  openOutbound,
  openPushConsumer,
  outboundContext,
  pushConsumerContext,
  type Reached,
} from './outbound/outbound-secrets.ts'
export { missingKeyOf, unopenedSecrets } from './outbound/unopened-secrets.ts'
export { QueueAdmission } from './queues/queue-admission.ts'
export { QueueAppends } from './queues/queue-appends.ts'
export { QUEUE_EVENT_HEADERS, renderQueueEvent } from './queues/queue-event.ts'
export {
  md5OfAttributes,
  md5OfBody,
  SYSTEM_ATTRIBUTE_NAMES,
  systemAttributes,
} from './queues/queue-message.ts'
export { createSigningPairs, signingKeyContext } from './signing/kept-signing-pair.ts'
export { type SignatureVersion, signatureVersionOf } from './signing/signer.ts'
export { SigningKey } from './signing/signing-key.ts'
export { createSigningPair, openSigningPair, type SigningPair } from './signing/signing-pair.ts'
export {
  createWebhookKey,
  type NewWebhookKey,
  webhookKeyContext,
  webhookSignerOf,
} from './signing/standard-webhooks.ts'
export { smsTextProblem } from './sms/sms-message.ts'
export type { SmsTools } from './sms/sms-settings.ts'
export { RedisSink } from './streams/redis-sink.ts'
export { redisStreamOf } from './streams/stream-places.ts'
