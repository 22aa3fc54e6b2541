/** Describes attempts that got no answer, for logs and people. */
import type { AttemptErrorCode, AttemptResult } from '@fantail/contracts'

type Unanswered = Exclude<AttemptResult, { kind: 'response' }>

export function errorCodeOf(result: Unanswered): AttemptErrorCode | 'misconfigured' {
  return result.kind === 'failure' ? result.error : result.kind
}

export function failureText(result: Unanswered): string {
  return `${errorCodeOf(result)}: ${result.detail}`
}
