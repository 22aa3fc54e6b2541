/**
 * The interface to an SMS provider. Each call is one HTTP request, and the answer has one of the meanings of
 * `SmsMeaning`.
 */
import type { SmsMeaning } from '@fantail/policy'
import type { HttpRequest } from '../http/http-request.ts'
import type { SmsMessage } from './sms-message.ts'

interface SmsAnswer {
  statusCode: number
  /** Undefined: the body is too long to be read. */
  body: Buffer | undefined
}

export interface SmsJudgement {
  meaning: SmsMeaning
  /** Text of the provider for logs, without secrets. */
  detail: string
}

export interface SmsProvider {
  /** The name of the login to the provider, without secrets. */
  readonly credential: string
  requestOf(message: SmsMessage): Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>
  judge(answer: SmsAnswer): SmsJudgement
}

/** Text of an SMS provider that results and logs show. Past it: the text is cut. */
const SMS_DETAIL_CHARS_MAX = 200

export function smsDetail(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, SMS_DETAIL_CHARS_MAX)
}

/**
 * The usual meaning of a status. A refused login is a fault of the operator's settings, so it does not count against
 * the message.
 */
export function usualMeaning(statusCode: number): SmsMeaning {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  if (statusCode === 401 || statusCode === 403 || statusCode === 407) return 'misconfigured'
  if (statusCode >= 500 || [408, 425, 429].includes(statusCode)) return 'retry'
  return 'permanent'
}
