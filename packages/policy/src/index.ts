export { type AccessPolicy, decideAccess, parseAccessPolicy } from './access-policy.ts'
export { AddressRules, hostName, type IpAddress, isAddressRule } from './address-rules.ts'
export { checkDeliveryPolicy, parseDeliveryPolicy } from './check-delivery-policy.ts'
export type { ContentTypes } from './content-types.ts'
export { effectivePolicy } from './effective-policy.ts'
export {
  type CompiledFilter,
  compileFilter,
  FilterCompiler,
  type FilterReason,
  reasonOf,
} from './filter/compiled-filter.ts'
export { explainFilter, VALUES_SHOWN_MAX } from './filter/explain-filter.ts'
export { FilterPolicyError } from './filter/filter-error.ts'
export { FilterIndex } from './filter/filter-index.ts'
export { FilterRouter } from './filter/filter-router.ts'
export { type FilterSubject, filterSubject, PARSED_BYTES_MAX, parsedBytes } from './filter/filter-subject.ts'
export { inOneGo, MatchWork, type Steps, TooMuchWork } from './filter/match-work.ts'
export { parseFilterPolicy } from './filter/read-filter.ts'
export { classify, type NextStep, nextStep } from './next-step.ts'
export { outboundHeaderProblems } from './outbound-headers.ts'
export { SEND_AHEAD_MS, SEND_LATE_MS_MAX, sendLateMsMax } from './pacing.ts'
export { takesFromTopic } from './queue-delivery.ts'
export { previewRetries, totalRetrySeconds } from './retry-curve.ts'
export { type Answered, answeredAs, retryCost } from './retry-mode.ts'
export { SYSTEM_POLICY } from './system-policy.ts'
export { shownWhy, whyItCame, whyItEnded, whyNext } from './why.ts'
