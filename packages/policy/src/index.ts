export { type AccessPolicy, decideAccess, parseAccessPolicy } from './access/access-policy.ts'
export { keysOfCall, type Organizations } from './access/condition-keys.ts'
export { policyProblem } from './access/policy-grammar.ts'
export { takesFromTopic } from './access/queue-delivery.ts'
export { AddressRules, hostName, type IpAddress, isAddressRule } from './endpoints/address-rules.ts'
export { isArnPattern, matchesArn } from './endpoints/arn-patterns.ts'
export {
  type FunctionArn,
  isFunctionName,
  parseFunctionArn,
  unqualifiedArn,
} from './endpoints/function-arn.ts'
export {
  comparableAddress,
  domainOfAddress,
  isMailAddress,
  type MailSender,
} from './endpoints/mail-address.ts'
export { outboundHeaderProblems } from './endpoints/outbound-headers.ts'
export { parsePhoneNumber, type SmsCountry, smsCountryOf } from './endpoints/phone-number.ts'
export { allowsOwnRedis, isRedisStream } from './endpoints/redis-stream.ts'
export { isSmsMeaning, SMS_MEANINGS, type SmsMeaning } from './endpoints/sms-meanings.ts'
export { isStreamName, parseStreamArn, type StreamArn } from './endpoints/stream-arn.ts'
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
export { FilterIndex } from './filter/indexes/filter-index.ts'
export { FilterRouter } from './filter/indexes/filter-router.ts'
export { ANY_WORK, inOneGo, MatchWork, type Steps, TooMuchWork } from './filter/match-work.ts'
export { parseFilterPolicy } from './filter/read-filter.ts'
export { feedbackOf, smsFeedbackOf } from './protocols/feedback.ts'
export type { ReportTraits } from './protocols/protocol-traits.ts'
export { type EndpointAddress, readEndpoint } from './protocols/read-endpoint.ts'
export { canBeAsked, inWords, PROTOCOL_TRAITS, refusedSetting, traitsOf } from './protocols/traits.ts'
export { webhookUrlProblem } from './protocols/webhook-traits.ts'
export { errorCodeOf, failureText } from './retries/attempt-failures.ts'
export { checkDeliveryPolicy, parseDeliveryPolicy } from './retries/check-delivery-policy.ts'
export type { ContentTypes } from './retries/content-types.ts'
export { effectivePolicy, saysWhatIsJson } from './retries/effective-policy.ts'
export { actionOnGone, classify, isUnsent, type NextStep, nextStep } from './retries/next-step.ts'
export { describeOnFailure, endsByRetention } from './retries/on-failure.ts'
export { PRESETS } from './retries/presets.ts'
export { previewRetries, retryPhase, totalRetrySeconds } from './retries/retry-curve.ts'
export { type Answered, answeredAs, RETRY_COST, retryCost } from './retries/retry-mode.ts'
export { shownWhy, whyItCame, whyItEnded, whyNext } from './retries/why.ts'
export { lineDiff } from './text/line-diff.ts'
export { withoutTokens } from './text/link-tokens.ts'
export { markdownCell, printable, printableLines } from './text/printable.ts'
