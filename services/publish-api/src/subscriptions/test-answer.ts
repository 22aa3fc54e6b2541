/** The answer to `/test`: the request, the answer and the times, if the endpoint's kind has them. */
import type { AttemptResult } from '@fantail/contracts'
import type { TestAnswer } from '@fantail/contracts/schemas/subscriptions/subscription-action-schemas'
import { type ExchangeTrace, redactEndpoint, shownHeaders } from '@fantail/delivery'
import { failureText, withoutTokens } from '@fantail/policy'
import type { z } from 'zod'

type Answer = z.input<typeof TestAnswer>

/** @limit Bytes of the request’s body that a test shows. Past them: the body is cut. */
const TESTED_BODY_BYTES_MAX = 65_536

interface Tested {
  endpoint: string
  result: AttemptResult
  trace: ExchangeTrace
  /** The text that an endpoint without HTTP requests gets. undefined: not known. */
  content: string | undefined
  /** Whether the caller may see bodies. */
  showsBodies: boolean
}

export function testAnswer(tested: Tested): Answer {
  const { result, trace, showsBodies } = tested
  const { isReused, ...parts } = trace.timings()
  const totalMs = Math.round(result.durationMs)
  return {
    ...shownResult(result),
    stage: (result.kind === 'failure' && result.stage) || null,
    bodies: showsBodies ? 'shown' : 'withheld',
    request: requestView(tested),
    answer: answerView(result, showsBodies),
    timings: { connectionReused: isReused, ...parts, totalMs },
  }
}

/** The part of the answer that logs have too. */
export function shownResult(result: AttemptResult): Pick<Answer, 'statusCode' | 'durationMs' | 'error'> {
  const durationMs = Math.round(result.durationMs)
  if (result.kind !== 'response') return { statusCode: null, durationMs, error: failureText(result) }
  return { statusCode: result.statusCode, durationMs }
}

function requestView({ endpoint, trace, content, showsBodies }: Tested): Answer['request'] {
  const { request, isSent } = trace
  const body = request?.body ?? content
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return {
    method: request?.method ?? null,
    url: request?.url ?? redactEndpoint(endpoint),
    headers: request?.headers ?? {},
    body: showsBodies && bytes ? withoutTokens(bytes.toString('utf8', 0, TESTED_BODY_BYTES_MAX)) : null,
    bodyBytes: bytes?.length ?? null,
    sent: request ? isSent : null,
  }
}

function answerView(result: AttemptResult, showsBodies: boolean): Answer['answer'] {
  if (result.kind !== 'response' || !result.answer) return null
  const body = result.answer.body()
  return {
    headers: shownHeaders(result.answer.headers),
    body: (showsBodies ? body : undefined) ?? null,
    bodyWithheld: showsBodies ? (body === undefined ? 'address' : null) : 'scope',
  }
}
