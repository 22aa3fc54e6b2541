/** Who sends text messages. Each call is one HTTP request, and its answer has a meaning. */
import type { SmsMeaning } from '@fantail/policy'
import type { HttpRequest } from '../http/http-request.ts'
import type { SmsMessage } from './sms-message.ts'

interface SmsAnswer {
  statusCode: number
  /** Undefined: it is too long to be read. */
  body: Buffer | undefined
}

export interface SmsJudgement {
  meaning: SmsMeaning
  /** Words of the provider, without secrets. */
  detail: string
}

export interface SmsProvider {
  /** Names its login without secrets. */
  readonly credential: string
  requestOf(message: SmsMessage): Pick<HttpRequest, 'url' | 'method' | 'headers' | 'body'>
  judge(answer: SmsAnswer): SmsJudgement
}

/** @limit Words of an SMS provider that results and logs show. Past it: they are cut. */
const SMS_DETAIL_CHARS_MAX = 200

export function smsDetail(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, SMS_DETAIL_CHARS_MAX)
}

/** What a status means where nothing says otherwise. A login that is refused is ours, so no message is to blame. */
export function usualMeaning(statusCode: number): SmsMeaning {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  if (statusCode === 401 || statusCode === 403 || statusCode === 407) return 'misconfigured'
  if (statusCode >= 500 || [408, 425, 429].includes(statusCode)) return 'retry'
  return 'permanent'
}
