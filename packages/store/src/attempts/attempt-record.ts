/** An attempt as Redis keeps it. A record is one line of JSON. Members without a value are left out. */
import type {
  AttemptDecision,
  AttemptPhase,
  AttemptStage,
  DeliveryCause,
  WaitCause,
} from '@fantail/contracts'

export interface AttemptRecord {
  messageId: string
  /** The delivery's generation (generations.ts). Absent: 0. */
  redrives?: number
  /** 1 is the first attempt. */
  attempt: number
  phase: AttemptPhase
  path: 'first' | 'lane'
  /** Epoch ms. Absent: the attempt before may have a record with this time. */
  dueAt?: number
  /** Epoch ms. */
  startedAt: number
  durationMs: number
  statusCode?: number
  error?: string
  detail?: string
  stage?: AttemptStage
  /** Why the attempt was made at its time. */
  because?: DeliveryCause
  /** How long this cause delayed it. */
  delayMs?: number
  /** Why the delivery waited after it was due. */
  waitedFor?: WaitCause
  decision: AttemptDecision
  /** The cause of the next step, or of the end. */
  nextBecause?: DeliveryCause
  /** Epoch ms. */
  nextAt?: number
  headers?: Record<string, string>
  body?: string
  /** The body did not come straight from a public address. Customers do not see it. */
  isPrivate?: true
  /** Earlier attempts of the subscription that this worker has not recorded. */
  leftOut?: number
}

export function packAttempt(record: AttemptRecord): string {
  return JSON.stringify(record)
}

/** undefined: another release wrote the text, and this release does not understand it. */
export function unpackAttempt(text: string): AttemptRecord | undefined {
  try {
    const record = JSON.parse(text) as AttemptRecord
    return typeof record.messageId === 'string' && typeof record.startedAt === 'number' ? record : undefined
  } catch {
    return undefined
  }
}
