/** The data about text messages that all processes share. They are stored in Redis (packages/store/src/sms). */
import type { Feedback } from '@fantail/contracts'

export interface SmsTools {
  /**
   * Reserves the cost of a message. With the outcome `optedOut` or `spent` nothing is reserved, and the message must
   * not be sent.
   */
  reserve(asked: SmsSpendAsked): Promise<SmsReservation>
  /** Attributes for a message that is refused before anything is reserved. */
  defaults(): Promise<Pick<SmsReservation, 'smsType' | 'feedback'>>
  /** Called for a message that was certainly not sent. */
  refund(spend: SmsReservation['spend']): Promise<void>
  /** Called if the provider answers that the number wants no messages. */
  noteOptOut(number: string): Promise<void>
  /** Called with the end of each attempt, for metrics. */
  onEnd?(end: SmsEnd): void
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
  feedback: Feedback | undefined
}

export type SmsEnd = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'unknown' | 'refused'
