/** Decides which attempts are recorded, and makes their records. */
import {
  type AnswerStart,
  type AttemptRecording,
  type AttemptResult,
  RECORDED_BODY_BYTES_MAX,
} from '@fantail/contracts'
import { type KeepAnswer, shownHeaders } from '@fantail/delivery'
import { retryPhase } from '@fantail/policy'
import {
  type AttemptRecord,
  type AttemptRecorder,
  type BodySeals,
  isSealed,
  sealAnswer,
} from '@fantail/store'
import {
  type AttemptEnd,
  type Decided,
  type DecidedAfterSending,
  type EndReport,
  wasSent,
} from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import { type AttemptOrigin, lateFor, originOf } from '../attempts/attempt-why.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

interface RecordingOptions {
  recorder: Pick<AttemptRecorder, 'add' | 'isOn' | 'takesSuccess' | 'leaveOut'>
  /** For topics without a setting of their own. */
  standard: AttemptRecording
  /** Whether answers of private addresses are recorded with their bodies. */
  bodiesFromAnywhere: boolean
  /** Seals the answers to sealed messages. */
  seals: BodySeals
  /** Epoch ms by Redis's clock. */
  now: () => number
}

export class Recording implements EndReport {
  readonly #options: RecordingOptions
  readonly #keeps: Record<AttemptRecording, KeepAnswer | undefined>

  constructor(options: RecordingOptions) {
    this.#options = options
    const kept = { bytesMax: RECORDED_BODY_BYTES_MAX, fromAnywhere: options.bodiesFromAnywhere }
    this.#keeps = { none: undefined, failures: { ...kept, of: 'failures' }, all: { ...kept, of: 'all' } }
  }

  /** Which answers an attempt keeps for its record. */
  keepFor(subscription: CompiledSubscription): KeepAnswer | undefined {
    const recording = this.#of(subscription)
    const isSampled = recording === 'all' && !this.#options.recorder.takesSuccess(subscription.record.id)
    return this.#keeps[isSampled ? 'failures' : recording]
  }

  /** Whether successful attempts are recorded too. */
  recordsAll(subscription: CompiledSubscription): boolean {
    return this.#of(subscription) === 'all'
  }

  /** Direct messages are recorded nowhere, because their subscription is shown to nobody. */
  ended(end: AttemptEnd, outcome: Outcome, decided: Decided): void {
    const { subscription, context, followers } = end
    const recording = this.#of(subscription)
    if (recording === 'none' || !wasSent(decided) || context.message.target !== undefined) return
    if (recording === 'failures' && decided.decision === 'delivered') return
    this.#record(end, outcome, decided)
    for (const one of followers ?? []) this.#record({ ...end, ...one, attempts: 1 }, outcome, decided)
  }

  #record(end: AttemptEnd, { result }: Outcome, decided: DecidedAfterSending): void {
    const { recorder } = this.#options
    const { id } = end.subscription.record
    if (decided.decision === 'delivered' && !recorder.takesSuccess(id)) {
      recorder.leaveOut(id)
      return
    }
    const record = recordOf(end, result, decided, this.#options.now())
    const answer = result.kind === 'response' ? result.answer : undefined
    const seals = answer && isSealed(end.context.message) ? this.#options.seals : undefined
    recorder.add(id, () => withAnswer(record, answer, seals && ((whole) => sealAnswer(id, whole, seals))))
  }

  #of({ recordAttempts }: CompiledSubscription): AttemptRecording {
    return this.#options.recorder.isOn ? (recordAttempts ?? this.#options.standard) : 'none'
  }
}

/** The record has neither message nor result, because it waits for up to a second. Undefined members are not stored. */
function recordOf(
  end: AttemptEnd,
  result: AttemptResult,
  { decision, why, circuit }: DecidedAfterSending,
  endedAt: number,
): AttemptRecord {
  const { subscription, context, attempts, path } = end
  const { messageId, publishedAt } = context.message
  const startedAt = Math.round(endedAt - result.durationMs)
  const {
    why: attemptWhy,
    waitedFor,
    redrives,
  } = path === 'first' ? originOfFirst(end, startedAt) : originOf(end, { result }, circuit, startedAt)
  const { statusCode, error } = resultState(result)
  return {
    messageId,
    redrives: redrives === 0 ? undefined : redrives,
    attempt: attempts,
    phase: attempts === 1 ? 'first' : retryPhase(subscription.policy.healthyRetryPolicy, attempts - 1),
    path,
    dueAt: attempts === 1 && redrives === 0 ? publishedAt : undefined,
    startedAt,
    durationMs: Math.round(result.durationMs),
    statusCode: statusCode ?? undefined,
    error: error ?? undefined,
    detail: result.kind === 'response' ? undefined : result.detail,
    stage: result.kind === 'failure' ? result.stage : undefined,
    cause: attemptWhy?.cause,
    delayMs: wholeOrNone(attemptWhy?.delayMs),
    waitedFor,
    decision,
    nextCause: decision === 'delivered' ? undefined : why?.cause,
    nextAt: decision === 'retry' ? Math.round(endedAt + (why?.delayMs ?? 0)) : undefined,
  }
}

function wholeOrNone(ms: number | null | undefined): number | undefined {
  return ms == null ? undefined : Math.round(ms)
}

function originOfFirst({ context }: AttemptEnd, startedAt: number): AttemptOrigin {
  const delayMs = startedAt - context.message.publishedAt
  const waitedFor = lateFor(context, delayMs)
  return { why: waitedFor && { cause: waitedFor, delayMs }, waitedFor, redrives: 0 }
}

function withAnswer(
  record: AttemptRecord,
  answer: AnswerStart | undefined,
  seal: ((record: AttemptRecord) => AttemptRecord) | undefined,
): AttemptRecord {
  if (!answer) return record
  const isPrivate = answer.isPublic ? undefined : (true as const)
  const whole = { ...record, headers: shownHeaders(answer.headers), body: answer.body(), isPrivate }
  return seal ? seal(whole) : whole
}
