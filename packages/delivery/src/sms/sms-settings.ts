/** Settings of text messages, by the names of their rows in packages/config. */
import type { StatusLog } from '@fantail/contracts'
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

/** The data about text messages that all processes share. Redis stores it (packages/store/src/sms). */
export interface SmsTools {
  /**
   * Reserves the cost of a message. With the outcome `optedOut` or `spent` nothing is reserved, and the message must
   * not be sent.
   */
  reserve(asked: SmsSpendAsked): Promise<SmsReservation>
  /** Attributes for a message that is refused before anything is reserved. */
  defaults(): Promise<Pick<SmsReservation, 'smsType' | 'statusLog'>>
  /** Called for a message that was certainly not sent. */
  refund(spend: SmsReservation['spend']): Promise<void>
  /** Called if the provider answers that the number wants no messages. */
  noteOptOut(number: string): Promise<void>
  /** Called with the result of each attempt, for metrics. */
  onResult?(result: SmsResult): void
}

interface SmsSpendAsked {
  number: string
  costUsd: number
  dayUsdMax: number
  monthUsdMax: number
}

export interface SmsReservation {
  outcome: 'reserved' | 'optedOut' | 'spent'
  spend: { day: string; month: string; costMicros: number }
  /** The attribute DefaultSenderID; empty if it is not set. */
  senderId: string
  smsType: string
  /** Which messages have a delivery status log. Undefined: none. */
  statusLog: StatusLog | undefined
}

export type SmsResult = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'unknown' | 'refused'
