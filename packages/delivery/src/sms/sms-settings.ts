/** Settings of text messages, by the names of their rows in packages/config. */
import type { SmsCountry, SmsMeaning } from '@fantail/policy'

export interface SmsSettings {
  /** Deadline of one attempt. */
  attemptTimeoutMs?: number | undefined
  /**
   * URL of the provider. With `smsTwilio`, the base URL of Twilio's API. If both are absent, no text message is sent.
   */
  smsUrl?: string | undefined
  smsMethod?: 'POST' | 'PUT' | undefined
  smsHeaders?: Readonly<Record<string, string>> | undefined
  /** Template of the body. */
  smsBody?: string | undefined
  /** The operator's meanings of HTTP statuses. They go before the usual ones (sms-provider.ts). */
  smsStatuses?: Readonly<Record<string, SmsMeaning>> | undefined
  smsTwilio?: { accountSid: string; authToken: string } | undefined
  /** Sender of messages that do not name one. */
  smsSender?: string | undefined
  /** The only numbers that get messages. */
  smsCountries?: readonly SmsCountry[] | undefined
  /** Price of one part of a message, for countries without a price of their own. */
  smsPriceUsd?: number | undefined
  smsDayUsd?: number | undefined
  smsMonthUsd?: number | undefined
}
