/** One attempt, by the subscription's protocol; whatever goes wrong is an outcome, never a throw. */
import type { AttemptResult } from '@fantail/contracts'
import {
  type EnvelopeSigning,
  type HttpSender,
  renderBody,
  renderHeaders,
  unlockTarget,
  type WebhookSigner,
} from '@fantail/delivery'
import { type Span, type Spans, traceparentOf } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'
import type { CompiledSubscription } from './compiled-slice.ts'
import { PROVIDER_RESPONSE_BYTES_MAX } from './delivery-status.ts'
import type { InRun } from './fifo/group-run.ts'
import type { MessageContext } from './message-context.ts'
import type { Outcome } from './outcome.ts'
import type { QueueAppends } from './queue-appends.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

const NO_RUN: InRun[] = []

export interface AttemptMakerOptions {
  sender: Pick<HttpSender, 'send'>
  appends: Pick<QueueAppends, 'append'>
  signing: Pick<EnvelopeSigning, 'prepare'>
  metrics: WorkerMetrics
  spans: Spans
  /** undefined: there is no master key, and what has secrets waits for one. */
  vault: Pick<Vault, 'open'> | undefined
  /** Epoch ms, for timestamps of signed requests. */
  clock: () => number
}

export class AttemptMaker {
  readonly #options: AttemptMakerOptions

  constructor(options: AttemptMakerOptions) {
    this.#options = options
  }

  /**
   * `delivery` names what is appended to a queue, so that an append that is repeated changes nothing. `done` is called once,
   * never before this has returned: no promises, because this is made tens of thousands of times a second. `run`: what may go
   * to the queue with it; the outcome says how many did.
   */
  attempt(
    subscription: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
    done: (outcome: Outcome) => void,
    run: InRun[] = NO_RUN,
  ): void {
    const { signature, target } = subscription
    if (signature !== undefined) {
      // Whoever asks has seen to it, unless the topic began to sign, or changed how, in this moment.
      const signed = this.#options.signing.prepare(context.envelopeFor(signature), target)
      const again = () => this.attempt(subscription, context, delivery, done, run)
      if (signed) return void signed.then(again, (error) => done(unsigned(error)))
    }
    const span = this.#options.spans.on ? this.#startSpan(subscription, context) : undefined
    const ended = (result: AttemptResult, along = 0) => {
      if (span) endSpan(span, result)
      const outcome = { result, along, answeredAfterMs: hasAnswered(result) ? result.durationMs : undefined }
      this.#options.metrics.attempted(subscription, context, outcome, result.durationMs)
      done(outcome)
    }
    if (subscription.record.protocol === 'sqs') {
      const appending = this.#options.appends.append(subscription, { delivery, message: context }, run)
      void appending.then(({ result, along }) => ended(result, along))
    } else this.#post(subscription, context, ended, span)
  }

  #startSpan({ record }: CompiledSubscription, { message }: MessageContext): Span {
    const attributes = { 'fantail.subscription': record.id, 'fantail.message': message.messageId }
    return this.#options.spans.start('attempt', { traceparent: message.traceparent, attributes })
  }

  #post(
    { target, signature, feedback }: CompiledSubscription,
    context: MessageContext,
    ended: (result: AttemptResult) => void,
    span?: Span,
  ): void {
    if (target.locked !== undefined) {
      const problem = unlockTarget(target, this.#options.vault)
      if (problem !== undefined) return void setImmediate(ended, locked(problem))
    }
    const { url, memo, route } = target
    const envelope = context.envelopeFor(signature)
    const headers = renderHeaders(envelope, target, span && traceparentOf(span))
    const body = renderBody(envelope, target)
    if (target.webhook !== undefined) {
      const problem = this.#sign(target.webhook, { messageId: context.message.messageId, body, headers })
      if (problem !== undefined) return void setImmediate(ended, locked(problem))
    }
    const textBytesMax = feedback && PROVIDER_RESPONSE_BYTES_MAX
    this.#options.sender.send({ url, route, memo, headers, body, textBytesMax }, ended)
  }

  /** What kept it from that, or undefined: nothing goes out unsigned. */
  #sign(signer: WebhookSigner, { messageId, body, headers }: Unsigned): string | undefined {
    try {
      const { vault, clock } = this.#options
      headers.push(...signer.headers({ messageId, now: clock(), body }, vault))
      return undefined
    } catch (error) {
      return `it cannot be signed: ${error instanceof Error ? error.message : 'unknown'}`
    }
  }
}

interface Unsigned {
  messageId: string
  body: Buffer
  headers: string[]
}

/** Says nothing of the endpoint. */
function unsigned(error: unknown): Outcome {
  const detail = `could not be signed: ${error instanceof Error ? error.message : String(error)}`
  const result = { kind: 'failure', error: 'storage', detail, durationMs: 0, permanent: false } as const
  return { result, along: 0, answeredAfterMs: undefined }
}

function locked(detail: string): AttemptResult {
  return { kind: 'failure', error: 'secrets', detail, durationMs: 0, permanent: false }
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
