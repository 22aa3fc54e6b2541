export { type AddressGuard, createAddressGuard } from './address-guard.ts'
export { renderRequest, secretsFailure, unsignedFailure } from './attempt-request.ts'
export { hasCredentials, hideCredentials, maskCredentials } from './endpoint-credentials.ts'
export {
  compileEnvelope,
  type Envelope,
  queueBody,
  renderBody,
  textFor,
  textForProtocol,
} from './envelope.ts'
export { EnvelopeSigning } from './envelope-signing.ts'
export type { Again, AgainCause, HttpRequest, SendMoment } from './http-request.ts'
export { createHttpSender, type HttpSender } from './http-sender.ts'
export { createSigningPairs, signingKeyContext } from './kept-signing-pair.ts'
export { type Linked, LinkedList } from './linked-list.ts'
export { checkTlsMaterial, compileRoute, type OutboundOptions, readProxy } from './outbound-route.ts'
export {
  consumerContext,
  type KeptOutbound,
  keepConsumer,
  keepOutbound,
  NoVaultError,
  openConsumer,
  openOutbound,
  outboundContext,
  type Reached,
} from './outbound-secrets.ts'
export { QUEUE_EVENT_HEADERS, renderQueueEvent } from './queue-event.ts'
export { md5OfAttributes, md5OfBody, SYSTEM_ATTRIBUTE_NAMES, systemAttributes } from './queue-message.ts'
export { type QueueAppend, QueueAppends } from './queues/queue-appends.ts'
export { QueueGates } from './queues/queue-gates.ts'
export { type SignatureVersion, signatureVersionOf } from './signature-version.ts'
export { SigningKey } from './signing-key.ts'
export { createSigningPair, readSigningPair, type SigningPair } from './signing-pair.ts'
export {
  createWebhookKey,
  isWebhookSecret,
  type NewWebhookKey,
  webhookKeyContext,
  webhookSignerOf,
} from './standard-webhooks.ts'
export { compileTarget, redactEndpoint, type Target } from './target.ts'
export { hostOf } from './url-host.ts'
