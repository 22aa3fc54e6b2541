/**
 * Sends over Twilio's Programmable Messaging: one form per message, with basic authentication.
 * https://www.twilio.com/docs/messaging/api/message-resource
 */
import { objectOf } from '@fantail/contracts'
import type { SmsMeaning } from '@fantail/policy'
import type { SmsMessage } from './sms-message.ts'
import { type SmsProvider, smsDetail, usualMeaning } from './sms-provider.ts'
import type { SmsSettings } from './sms-settings.ts'

const BASE = 'https://api.twilio.com'
/** https://www.twilio.com/docs/api/errors */
const BY_CODE: Readonly<Record<number, SmsMeaning>> = {
  20003: 'misconfigured', // the login is refused
  20005: 'misconfigured', // the account is not active
  20404: 'misconfigured', // there is no such account
  20429: 'retry', // too many requests
  21610: 'optedOut',
}

type TwilioSettings = SmsSettings & { smsTwilio: NonNullable<SmsSettings['smsTwilio']> }

export function createTwilioProvider({ smsUrl = BASE, smsTwilio }: TwilioSettings): SmsProvider {
  const { accountSid, authToken } = smsTwilio
  const login = Buffer.from(`${accountSid}:${authToken}`).toString('base64')
  const headers = {
    authorization: `Basic ${login}`,
    'content-type': 'application/x-www-form-urlencoded',
    'user-agent': 'Fantail',
  }
  const url = `${smsUrl.replace(/\/+$/, '')}/2010-04-01/Accounts/${accountSid}/Messages.json`
  return {
    credential: `twilio:${accountSid}`,
    requestOf: (message) => ({ url, method: 'POST', headers, body: formOf(message) }),
    judge: ({ statusCode, body }) => judged(statusCode, body),
  }
}

function formOf({ number, text, sender }: SmsMessage): string {
  const from = /^MG[0-9a-f]{32}$/.test(sender) ? 'MessagingServiceSid' : 'From'
  return new URLSearchParams({ To: number, [from]: sender, Body: text }).toString()
}

function judged(statusCode: number, body: Buffer | undefined) {
  const { code, message, sid } = (body && objectOf(body.toString())) ?? {}
  const usual = usualMeaning(statusCode)
  // At Twilio a 403 refuses this number or sender, and not the login, unless its error code says otherwise. An answer
  // without a code is a proxy's, so it is not final.
  const ofCode = code === undefined ? 'retry' : 'permanent'
  const ofStatus = statusCode === 403 || usual === 'permanent' ? ofCode : usual
  const meaning = usual === 'delivered' ? usual : (BY_CODE[Number(code)] ?? ofStatus)
  const words = [statusCode, code, message ?? sid].filter((word) => word !== undefined)
  return { meaning, detail: smsDetail(words.join(' ')) }
}
