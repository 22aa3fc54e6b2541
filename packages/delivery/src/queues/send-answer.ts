/**
 * Reads the answer to SQS's SendMessageBatch. A 200 does not mean that all messages were stored: each has its own
 * result, by its id.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
 */
import { type AttemptResult, isObject } from '@fantail/contracts'
import { withoutTokens } from '@fantail/policy'
import type { AwsAnswer, AwsResponse } from '../aws/aws-call.ts'
import { failure } from '../http/attempt-failure.ts'

/**
 * `refused`: the result of all messages. `byContent`: one of them may have caused it. Otherwise the result of each
 * message, in the order of the ids.
 */
export type SendResults = { refused: AttemptResult; byContent: boolean } | { results: AttemptResult[] }

/** A missing queue and a refused message are client errors for SNS, which are not retried. */
const MISSING = /QueueDoesNotExist|NonExistentQueue/
/** Errors that mean "too many requests", whatever their status. */
const THROTTLED = /Throttl|^(OverLimit|LimitExceeded|RequestLimitExceeded|TooManyRequests)/
const SQS_TOO_MANY = 429
const DENIED = /^AccessDenied/
const SQS_DENIED = 403
const SQS_REFUSED = 400
/** Statuses with which a proxy may refuse a request because of one message's size or content. */
const CONTENT_REFUSALS: readonly number[] = [400, 403, 413]

export function readSends(answer: AwsAnswer, ids: readonly string[]): SendResults {
  if ('ended' in answer) return { refused: answer.ended, byContent: isContentRefusal(answer) }
  const { response } = answer
  if ('value' in answer) return { results: resultsOf(response, answer.value, ids) }
  const { statusCode } = response
  if (statusCode < 400 || statusCode >= 500) return { refused: plain(response), byContent: false }
  const refused = refusal(answer.name ?? '', answer.said, response)
  const isFinal = refused.permanent && refused.error === 'queue_refused'
  return { refused, byContent: isFinal && refused.statusCode !== SQS_DENIED }
}

function isContentRefusal({ isOfProxy, response }: Extract<AwsAnswer, { ended: AttemptResult }>): boolean {
  if (!isOfProxy || response?.retryAfterSeconds !== undefined) return false
  return response !== undefined && CONTENT_REFUSALS.includes(response.statusCode)
}

function resultsOf(
  response: AwsResponse,
  value: Record<string, unknown> | undefined,
  ids: readonly string[],
): AttemptResult[] {
  const stored = membersById(value?.Successful)
  const failed = membersById(value?.Failed)
  return ids.map((id) => {
    const { MessageId: text } = stored.get(id) ?? {}
    if (typeof text === 'string') return { ...plain(response), text }
    const { Code: name, Message: message, SenderFault: isFault } = failed.get(id) ?? {}
    if (typeof name !== 'string')
      return failure('invalid_response', 'the answer does not name each message', response.durationMs)
    const refused = refusal(name, said(name, message), { ...response, statusCode: SQS_REFUSED })
    return isFault === false ? { ...refused, permanent: false } : refused
  })
}

function membersById(list: unknown): Map<unknown, Record<string, unknown>> {
  const members = Array.isArray(list) ? list.filter(isObject) : []
  return new Map(members.map((member) => [member.Id, member]))
}

/** The words that a queue of Fantail has for the same refusal, so that verdicts and logs name both alike. */
function refusal(name: string, detail: string, { statusCode, durationMs }: AwsResponse) {
  const isThrottled = statusCode === SQS_TOO_MANY || THROTTLED.test(name)
  const error = MISSING.test(name) ? 'queue_missing' : 'queue_refused'
  const status = DENIED.test(name) ? SQS_DENIED : statusCode
  return { ...failure(error, detail, durationMs, !isThrottled), statusCode: status }
}

function plain({ statusCode, durationMs }: AwsResponse): AwsResponse {
  return { kind: 'response', statusCode, durationMs }
}

function said(name: string, message: unknown): string {
  return withoutTokens(typeof message === 'string' ? `${name}: ${message}` : name)
}
