/** Ends an attempt's span, whether or not a request was sent. */
import type { AttemptResult } from '@fantail/contracts'
import { errorCodeOf } from '@fantail/policy'
import type { Span } from '@fantail/telemetry'

export function endSpan(span: Span, result: AttemptResult): void {
  if (result.kind === 'response') span.setAttribute('http.response.status_code', result.statusCode)
  else span.setAttribute('error.type', errorCodeOf(result))
  span.end()
}
