/**
 * Reads the answer to PutRecordBatch. A 200 does not mean that all records were taken: each has its own result, in the
 * order of the request.
 * https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html
 */
import { type AttemptResult, isObject, objectOf } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import { errorNameOf, isCredentialError } from '../aws/aws-errors.ts'
import { failure } from '../http/attempt-failure.ts'

type Response = Extract<AttemptResult, { kind: 'response' }>

/** Errors that mean "too many requests", whatever their status. */
const THROTTLED = /^(ServiceUnavailable|LimitExceeded|Throttling|TooManyRequests|SlowDown)/
const THROTTLED_STATUS = 429

/**
 * `refused`: the operator's credentials are refused, and the text has the reason. Otherwise the result of each record.
 */
type ReadPut = { refused: string } | { results: AttemptResult[] }

export function readPut(response: Response, records: number): ReadPut {
  const { statusCode, body, headers = {}, durationMs } = response
  const value = body === undefined ? undefined : objectOf(body.toString())
  if (statusCode < 200 || statusCode > 299) {
    const name = errorNameOf(headers, value)
    const message = value?.message ?? value?.Message
    const said =
      typeof message === 'string'
        ? withoutTokens(`${name ?? statusCode}: ${message}`)
        : `${name ?? statusCode}`
    if (isCredentialError(statusCode, name)) return { refused: said }
    return { results: Array.from({ length: records }, () => refusal(response, name ?? '', message)) }
  }
  const answers = value?.RequestResponses
  if (!Array.isArray(answers) || answers.length !== records) {
    const unread = failure('invalid_response', 'the answer does not name each record', durationMs)
    return { results: Array.from({ length: records }, () => unread) }
  }
  return { results: answers.map((answer: unknown) => resultOf(answer, response)) }
}

function resultOf(answer: unknown, response: Response): AttemptResult {
  const { ErrorCode: name, ErrorMessage: message, RecordId: recordId } = isObject(answer) ? answer : {}
  if (typeof name === 'string' && name !== '')
    return { ...refusal(response, name, message), verdict: 'retry' }
  const { statusCode, durationMs } = response
  return { kind: 'response', statusCode, durationMs, text: JSON.stringify({ recordId }) }
}

function refusal(response: Response, name: string, message: unknown): Response {
  const { statusCode, durationMs } = response
  const text = withoutTokens(JSON.stringify({ ErrorCode: name, ErrorMessage: message }))
  const plain: Response = { kind: 'response', statusCode, durationMs, text }
  const isThrottled = statusCode === THROTTLED_STATUS || THROTTLED.test(name)
  return isThrottled ? { ...plain, isThrottled, verdict: 'retry' } : plain
}
