/** The state that all processes share about text messages. The store has it in Redis (packages/store/src/sms). */

export interface SmsTools {
  /** Reserves what a message costs. `optedOut` and `spent`: it must not be sent, and nothing was reserved. */
  reserve(asked: SmsSpendAsked): Promise<SmsReservation>
  /** Called for a message that was certainly not sent. */
  refund(spend: SmsReservation['spend']): Promise<void>
  /** The provider says that the number wants no messages. */
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
  /** DefaultSenderID and DefaultSMSType; empty where they are not set. */
  senderId: string
  smsType: string
}

export type SmsEnd = 'delivered' | 'transient' | 'permanent' | 'misconfigured' | 'unknown' | 'refused'
