/** One attempt, by the subscription's protocol; whatever goes wrong is an outcome, never a throw. */
import { type AttemptResult, FantailError } from '@fantail/contracts'
import {
  type EnvelopeSigning,
  type HttpSender,
  queueBody,
  renderBody,
  renderHeaders,
} from '@fantail/delivery'
import { deliveryItemId, type Queues } from '@fantail/store'
import { type Span, type Spans, traceparentOf } from '@fantail/telemetry'
import type { CompiledSubscription } from './compiled-slice.ts'
import type { MessageContext } from './message-context.ts'
import type { Outcome } from './outcome.ts'
import type { QueueGates } from './queue-gates.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface AttemptMakerOptions {
  sender: Pick<HttpSender, 'send'>
  queues: Queues
  gates: QueueGates
  signing: Pick<EnvelopeSigning, 'prepare'>
  metrics: WorkerMetrics
  spans: Spans
}

export class AttemptMaker {
  readonly #options: AttemptMakerOptions

  constructor(options: AttemptMakerOptions) {
    this.#options = options
  }

  /**
   * `delivery` names what is appended to a queue, so that an append that is repeated changes nothing. `done` is called once,
   * never before this has returned: no promises, because this is made tens of thousands of times a second.
   */
  attempt(
    subscription: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
    done: (outcome: Outcome) => void,
  ): void {
    const { signature, target } = subscription
    if (signature !== undefined) {
      // Whoever asks has seen to it, unless the topic began to sign, or changed how, in this moment.
      const signed = this.#options.signing.prepare(context.envelopeFor(signature), target)
      const again = () => this.attempt(subscription, context, delivery, done)
      if (signed) return void signed.then(again, (error) => done(unsigned(error)))
    }
    const span = this.#options.spans.on ? this.#startSpan(subscription, context) : undefined
    const ended = (result: AttemptResult) => {
      if (span) endSpan(span, result)
      const outcome = { result, answeredAfterMs: hasAnswered(result) ? result.durationMs : undefined }
      this.#options.metrics.attempted(subscription, context, outcome, result.durationMs)
      done(outcome)
    }
    if (subscription.record.protocol === 'sqs') void this.#append(subscription, context, delivery).then(ended)
    else this.#post(subscription, context, ended, span)
  }

  #startSpan({ record }: CompiledSubscription, { message }: MessageContext): Span {
    const attributes = { 'fantail.subscription': record.id, 'fantail.message': message.messageId }
    return this.#options.spans.start('attempt', { traceparent: message.traceparent, attributes })
  }

  #post(
    { target, signature }: CompiledSubscription,
    context: MessageContext,
    ended: (result: AttemptResult) => void,
    span?: Span,
  ): void {
    const { url, memo } = target
    const envelope = context.envelopeFor(signature)
    const headers = renderHeaders(envelope, target, span && traceparentOf(span))
    this.#options.sender.send({ url, memo, headers, body: renderBody(envelope, target) }, ended)
  }

  /** A queue of ours: the append is the attempt. */
  async #append(
    { target, record, signature }: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
  ): Promise<AttemptResult> {
    const startedAt = performance.now()
    const { gates, queues } = this.#options
    const item = queueBody(context.envelopeFor(signature), target, record.endpoint)
    const id = deliveryItemId(record.id, delivery)
    try {
      const refusal = await gates.refusalOf(record.endpoint, context.message, item)
      if (refusal !== undefined) throw new FantailError('forbidden', refusal)
      await queues.send(record.endpoint, [{ id, ...item }])
      return { kind: 'response', statusCode: 200, durationMs: performance.now() - startedAt }
    } catch (error) {
      return queueFailure(error, performance.now() - startedAt)
    }
  }
}

/** A missing queue and a message it cannot take are client-side: no retry (sns-semantics §7.2). */
function queueFailure(error: unknown, durationMs: number): AttemptResult {
  const detail = error instanceof Error ? error.message : String(error)
  if (!(error instanceof FantailError))
    return { kind: 'failure', error: 'storage', detail, durationMs, permanent: false }
  const missing = error.code === 'not_found'
  const permanent = error.status < 500 && error.code !== 'rate_limited'
  return {
    kind: 'failure',
    error: missing ? 'queue_missing' : 'queue_refused',
    detail,
    durationMs,
    permanent,
  }
}

/** Says nothing of the endpoint. */
function unsigned(error: unknown): Outcome {
  const detail = `could not be signed: ${error instanceof Error ? error.message : String(error)}`
  const result = { kind: 'failure', error: 'storage', detail, durationMs: 0, permanent: false } as const
  return { result, answeredAfterMs: undefined }
}

/** A refusal at once (nobody listens, no such name) says that nothing hangs. */
function hasAnswered(result: AttemptResult): boolean {
  return result.kind === 'response' || result.error !== 'timeout'
}

function endSpan(span: Span, result: AttemptResult): void {
  if (result.kind === 'response') span.setAttribute('http.response.status_code', result.statusCode)
  else span.setAttribute('error.type', result.error)
  span.end()
}
