/** An attempt as Redis keeps it. A record is one line of JSON. Members without a value are left out. */
import type {
  AttemptDecision,
  AttemptPhase,
  AttemptStage,
  DeliveryCause,
  WaitCause,
} from '@fantail/contracts'
import { type BodySeals, openText, sealText } from '../records/sealed-messages.ts'

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
  cause?: DeliveryCause
  /** How long this cause delayed it. */
  delayMs?: number
  /** Why the delivery waited after it was due. */
  waitedFor?: WaitCause
  decision: AttemptDecision
  /** The cause of the next step, or of the end. */
  nextCause?: DeliveryCause
  /** Epoch ms. */
  nextAt?: number
  headers?: Record<string, string>
  body?: string
  /** The body did not come straight from a public address. Customers do not see it. */
  isPrivate?: true
  /** The headers and the body of the answer to a sealed message, sealed. */
  sealed?: string
  /** Earlier attempts of the subscription that this worker has not recorded. */
  leftOut?: number
}

type Answer = Pick<AttemptRecord, 'headers' | 'body'>

/** The record with its answer sealed, because an answer may repeat the message. Throws a SealKeyError. */
export function sealAnswer(
  subscriptionId: string,
  { headers, body, ...record }: AttemptRecord,
  seals: BodySeals,
): AttemptRecord {
  const answer: Answer = { headers, body }
  return { ...record, sealed: sealText(seals, JSON.stringify(answer), contextOf(subscriptionId, record)) }
}

/** The record with its answer, or without one if it was changed. Throws a SealKeyError. */
export function openAnswer(
  subscriptionId: string,
  { sealed, ...record }: AttemptRecord,
  seals: BodySeals,
): AttemptRecord {
  const text = sealed === undefined ? undefined : openText(seals, sealed, contextOf(subscriptionId, record))
  return text === undefined ? record : { ...record, ...(JSON.parse(text) as Answer) }
}

function contextOf(subscriptionId: string, { messageId, attempt, startedAt }: AttemptRecord): string {
  return JSON.stringify(['answer', subscriptionId, messageId, attempt, startedAt])
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
