/** Settings of text messages, by the names of their rows in packages/config. */
import type { SmsCountry, SmsMeaning } from '@fantail/policy'

export interface SmsSettings {
  /** Deadline of one attempt. */
  attemptTimeoutMs?: number | undefined
  /** The provider. With `smsTwilio`, the base of Twilio's API. Without either, nothing is sent. */
  smsUrl?: string | undefined
  smsMethod?: 'POST' | 'PUT' | undefined
  smsHeaders?: Readonly<Record<string, string>> | undefined
  /** Template of the body. */
  smsBody?: string | undefined
  /** What statuses mean beyond the usual. */
  smsStatuses?: Readonly<Record<string, SmsMeaning>> | undefined
  smsTwilio?: { accountSid: string; authToken: string } | undefined
  /** Sender of messages that name none. */
  smsSender?: string | undefined
  /** The only numbers that get messages. */
  smsCountries?: readonly SmsCountry[] | undefined
  /** Of one part, for countries without a price of their own. */
  smsPriceUsd?: number | undefined
  smsDayUsd?: number | undefined
  smsMonthUsd?: number | undefined
}
