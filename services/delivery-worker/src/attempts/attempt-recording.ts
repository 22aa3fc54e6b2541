/** Decides which attempts are recorded, and makes their records. */
import { type AttemptRecording, type AttemptResult, RECORDED_BODY_BYTES_MAX } from '@fantail/contracts'
import { type KeepAnswer, shownHeaders } from '@fantail/delivery'
import { retryPhase } from '@fantail/policy'
import type { AttemptRecord, AttemptRecorder } from '@fantail/store'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { LoggedAttempt } from './attempt-log.ts'
import { resultState } from './attempt-outcome.ts'
import { type Came, lateFor } from './attempt-why.ts'

export interface RecordedAttempt extends LoggedAttempt {
  path: 'first' | 'lane'
  /** `startedAt`: epoch ms. Absent: a first attempt straight from the job. */
  came?: (startedAt: number) => Came
}

interface RecordingOptions {
  recorder: Pick<AttemptRecorder, 'add' | 'isOn'>
  /** For topics without a setting of their own. */
  standard: AttemptRecording
  /** Whether answers of private addresses are recorded with their bodies. */
  bodiesFromAnywhere: boolean
  /** Epoch ms by Redis's clock. */
  now: () => number
}

export class Recording {
  readonly #options: RecordingOptions
  readonly #keeps: Record<AttemptRecording, KeepAnswer | undefined>

  constructor(options: RecordingOptions) {
    this.#options = options
    const kept = { bytesMax: RECORDED_BODY_BYTES_MAX, fromAnywhere: options.bodiesFromAnywhere }
    this.#keeps = { none: undefined, failures: { ...kept, of: 'failures' }, all: { ...kept, of: 'all' } }
  }

  /** Which answers an attempt keeps for its record. */
  keepFor(subscription: CompiledSubscription): KeepAnswer | undefined {
    return this.#keeps[this.#of(subscription)]
  }

  /** Whether successful attempts are recorded too. */
  recordsAll(subscription: CompiledSubscription): boolean {
    return this.#of(subscription) === 'all'
  }

  /** Direct messages are recorded nowhere, because their subscription is shown to nobody. */
  ended(attempt: RecordedAttempt): void {
    const { subscription, decision, message } = attempt
    const recording = this.#of(subscription)
    if (recording === 'none' || decision === 'wait' || message.message.target !== undefined) return
    if (recording === 'failures' && decision === 'delivered') return
    const endedAt = this.#options.now()
    this.#options.recorder.add(subscription.record.id, () => recordOf(attempt, endedAt))
  }

  #of({ recordAttempts }: CompiledSubscription): AttemptRecording {
    return this.#options.recorder.isOn ? (recordAttempts ?? this.#options.standard) : 'none'
  }
}

function recordOf(attempt: RecordedAttempt, endedAt: number): AttemptRecord {
  const { subscription, message, attempts, result, path, decision, why } = attempt
  const startedAt = Math.round(endedAt - result.durationMs)
  const { why: cameWhy, heldBy, redrives } = attempt.came?.(startedAt) ?? cameAtFirst(attempt, startedAt)
  const { statusCode, error } = resultState(result)
  const isFirst = attempts === 1 && redrives === 0
  return {
    messageId: message.message.messageId,
    ...(redrives > 0 && { redrives }),
    attempt: attempts,
    phase: attempts === 1 ? 'first' : retryPhase(subscription.policy.healthyRetryPolicy, attempts - 1),
    path,
    ...(isFirst && { dueAt: message.message.publishedAt }),
    startedAt,
    durationMs: Math.round(result.durationMs),
    ...(statusCode !== null && { statusCode }),
    ...(error !== null && { error: error as AttemptRecord['error'] & string }),
    ...failed(result),
    ...(cameWhy && { because: cameWhy.because }),
    ...(cameWhy && cameWhy.delayMs !== null && { delayMs: Math.round(cameWhy.delayMs) }),
    ...(heldBy && { heldBy }),
    decision: decision === 'wait' ? 'retry' : decision,
    ...(decision !== 'delivered' && why && { nextBecause: why.because }),
    ...(decision === 'retry' && { nextAt: Math.round(endedAt + (why?.delayMs ?? 0)) }),
    ...answered(result),
  }
}

function cameAtFirst({ message }: RecordedAttempt, startedAt: number): Came {
  const heldBy = lateFor(message, startedAt - message.message.publishedAt)
  const delayMs = startedAt - message.message.publishedAt
  return { why: heldBy && { because: heldBy, delayMs }, heldBy, redrives: 0 }
}

function failed(result: AttemptResult): Pick<AttemptRecord, 'detail' | 'stage'> {
  if (result.kind === 'response') return {}
  const { detail } = result
  return result.kind === 'failure' && result.stage ? { detail, stage: result.stage } : { detail }
}

function answered(result: AttemptResult): Pick<AttemptRecord, 'headers' | 'body'> {
  if (result.kind !== 'response' || !result.answer) return {}
  const body = result.answer.body()
  return { headers: shownHeaders(result.answer.headers), ...(body !== undefined && { body }) }
}
