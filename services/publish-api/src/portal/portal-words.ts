/**
 * Errors of portal routes in words for customers, who know nothing of keys, queues and names of the operator. Codes and
 * paths stay, for programs.
 */
import { type ErrorCode, FantailError, type Problem } from '@fantail/contracts'
import { invalid } from '../http/error-answers.ts'

/** An error whose words are already for customers. */
export class PortalError extends FantailError {}

const BY_CODE: Partial<Record<ErrorCode, string>> = {
  body_gone: 'The content of this message is no longer stored.',
  conflict: 'Somebody else has just made a change here. Try again.',
  forbidden: 'You may not do this here.',
  internal: 'Something went wrong on our side. Try again later.',
  key_unavailable: 'The content of messages cannot be read at the moment. Try again later.',
  not_found: 'This does not exist any more, or you may not see it.',
  not_supported: 'This is not offered here.',
  quota_exceeded: 'You have as many endpoints as you may have. Remove one first, or ask us for more.',
  rate_limited: 'You have done this too often. Try again later.',
  redrive_active: 'Messages are being sent again at the moment. Try again later.',
  storage_full: 'The service takes no changes at the moment. Try again later.',
  storage_unavailable: 'The service does not answer at the moment. Try again later.',
  subscription_exists: 'An endpoint with this address exists already.',
  wrong_state: 'The endpoint must confirm first.',
}

/** By member of a request. Other members have the words of the check, after their paths. */
const BY_MEMBER = new Map([
  ['cursor', 'This list has changed. Load it again.'],
  ['endpoint', 'Enter an https address that can be reached from the internet.'],
  ['eventType', 'Choose an event type of the topic.'],
  ['eventTypes', 'Choose event types of the topic, by names such as order.paid or by order.*.'],
  ['example', 'Choose one of the examples of the event type.'],
  ['maxPerSecond', 'Enter a whole number of requests a second, or 0.001 to 1.'],
  ['name', 'Enter a name of 1 to 100 characters.'],
  ['since', 'Enter a time, such as 2026-11-21T09:30:00Z.'],
  ['topic', 'Choose one of the topics.'],
])

/** Settings of the operator that do not fit a new address. Customers do not see which these are. */
const OPERATORS = 'outbound'
const NOT_MOVABLE = { path: 'endpoint', message: 'This address cannot be changed here.' }

export function inPortalWords(error: FantailError): FantailError {
  if (error instanceof PortalError) return error
  const { code, details, retryAfterSeconds, cause } = error
  const given = { cause, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
  if (details) {
    const told = details.map(problemInWords)
    const sentences = new Set(told.filter(hasWords).map(({ message }) => message))
    const others = told.filter((one) => !hasWords(one))
    if (others.length > 0) sentences.add(invalid(others).message)
    return new FantailError(code, [...sentences].join(' '), { ...given, details: told })
  }
  const message = BY_CODE[code]
  return message === undefined ? error : new FantailError(code, message, given)
}

function problemInWords({ path, message }: Problem): Problem {
  const member = memberOf(path)
  if (member === OPERATORS) return NOT_MOVABLE
  return { path, message: BY_MEMBER.get(member) ?? message }
}

const hasWords = ({ path }: Problem): boolean => BY_MEMBER.has(memberOf(path))

const memberOf = (path: string): string => path.split(/[.[]/, 1)[0] ?? ''
