/** The end of an attempt's span, whatever was sent. */
import type { AttemptResult } from '@fantail/contracts'
import type { Span } from '@fantail/telemetry'

export function endSpan(span: Span, result: AttemptResult): void {
  if (result.kind === 'response') span.setAttribute('http.response.status_code', result.statusCode)
  else span.setAttribute('error.type', result.error)
  span.end()
}
