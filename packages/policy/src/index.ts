export { type AccessPolicy, decideAccess, parseAccessPolicy } from './access/access-policy.ts'
export { type AttributedKind, WITHOUT_EFFECT, withoutEffect } from './access/attribute-effects.ts'
export { keysOfCall, type Organizations } from './access/condition-keys.ts'
export { type KmsKeys, type KmsProblem, kmsProblem } from './access/kms-keys.ts'
export { policyProblem } from './access/policy-grammar.ts'
export { takesFromTopic } from './access/queue-delivery.ts'
export { isTopicAction, TOPIC_OWNER_ACTIONS, topicPolicyProblem } from './access/topic-policy.ts'
export { AddressRules, hostName, type IpAddress, isAddressRule } from './endpoints/address-rules.ts'
export {
  comparableAddress,
  domainOfAddress,
  isMailAddress,
  type MailSender,
} from './endpoints/mail-address.ts'
export { outboundHeaderProblems } from './endpoints/outbound-headers.ts'
export {
  isSmsMeaning,
  parsePhoneNumber,
  SMS_MEANINGS,
  type SmsCountry,
  type SmsMeaning,
  smsCountryOf,
} from './endpoints/phone-number.ts'
export { allowsOwnRedis, isRedisStream } from './endpoints/redis-stream.ts'
export {
  type FunctionArn,
  isArnPattern,
  isFunctionName,
  isStreamName,
  matchesArn,
  parseFunctionArn,
  parseStreamArn,
  type StreamArn,
  unqualifiedArn,
} from './endpoints/service-arns.ts'
export { isWebhookSecret, WEBHOOK_SECRET_PREFIX, webhookSecretBytes } from './endpoints/webhook-secret.ts'
export {
  type CompiledFilter,
  compileFilter,
  FilterCompiler,
  type FilterReason,
  reasonOf,
} from './filter/compiled-filter.ts'
export { FilterPolicyError } from './filter/conditions/filter-error.ts'
export { explainFilter, type FilterExplanation, VALUES_SHOWN_MAX } from './filter/explain-filter.ts'
export {
  type FilterSubject,
  filterSubject,
  PARSED_BYTES_MAX,
  PARSED_SMALL_BYTES_MAX,
  parsedBytes,
} from './filter/filter-subject.ts'
export { type Filtering, isFiltered, scopeOf } from './filter/filtering.ts'
export { FilterIndex } from './filter/indexes/filter-index.ts'
export { FilterRouter } from './filter/indexes/filter-router.ts'
export { ANY_WORK, inOneGo, MatchWork, type Steps, TooMuchWork } from './filter/match-work.ts'
export { parseFilterPolicy } from './filter/read-filter.ts'
export type { ReportTraits } from './protocols/protocol-traits.ts'
export { smsStatusLogOf, statusLogOf } from './protocols/status-log.ts'
export {
  canBeAsked,
  type EndpointAddress,
  inWords,
  PROTOCOL_TRAITS,
  readEndpoint,
  refusedSetting,
  traitsOf,
} from './protocols/traits.ts'
export { webhookUrlProblem } from './protocols/webhook-traits.ts'
export { checkDeliveryPolicy, parseDeliveryPolicy } from './retries/check-delivery-policy.ts'
export type { ContentTypes } from './retries/content-types.ts'
export { effectivePolicy, saysWhatIsJson } from './retries/effective-policy.ts'
export { actionOnGone, classify, isUnsent, type NextStep, nextStep } from './retries/next-step.ts'
export { PRESETS } from './retries/presets.ts'
export {
  describeOnFailure,
  endsByRetention,
  previewRetries,
  retryPhase,
  totalRetrySeconds,
} from './retries/retry-curve.ts'
export { type Answered, answeredAs, RETRY_COST, retryCost } from './retries/retry-mode.ts'
export { causeOf, errorCodeOf, failureText, shownWhy, whyItEnded, whyNext } from './retries/why.ts'
export { contentLine, textFinder } from './text/content-line.ts'
export { lineDiff } from './text/line-diff.ts'
export { markdownCell, printable, printableLines, withoutTokens } from './text/printable.ts'
