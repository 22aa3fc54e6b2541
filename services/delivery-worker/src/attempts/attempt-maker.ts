/** One attempt, by the subscription's protocol; whatever goes wrong is an outcome, never a throw. */
import type { AttemptResult } from '@fantail/contracts'
import {
  type Again,
  type AgainCause,
  type EnvelopeSigning,
  type HttpSender,
  type QueueAppend,
  type QueueAppends,
  queueBody,
  renderRequest,
  type SendMoment,
  unsignedFailure,
} from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { deliveryItemId } from '@fantail/store'
import { type Span, type Spans, traceparentOf } from '@fantail/telemetry'
import type { Vault } from '@fantail/vault'
import type { InRun } from '../fifo/group-run.ts'
import { PROVIDER_RESPONSE_BYTES_MAX } from '../outcomes/delivery-status.ts'
import type { WorkerMetrics } from '../outcomes/worker-metrics.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import type { Outcome } from './attempt-outcome.ts'
import { endSpan } from './attempt-span.ts'

/** How an attempt is made, beyond what everybody's is. */
export interface AttemptWays {
  /** Messages that may go to the queue with it; the outcome says how many did. */
  run?: InRun[] | undefined
  /** The earlier requests of this attempt. */
  after?: Again | undefined
  /** Called instead of `done` where the attempt needs another request; without it that follows at once. */
  again?: (again: Again) => void
  /** When a request may be written; where that is past, `missed` is called instead of `done`. */
  moment?: SendMoment
}

const NO_WAYS: AttemptWays = {}

export interface AttemptMakerOptions {
  sender: Pick<HttpSender, 'send' | 'openAhead'>
  appends: Pick<QueueAppends, 'append'>
  signing: Pick<EnvelopeSigning, 'prepare'>
  metrics: WorkerMetrics
  spans: Spans
  /** undefined: there is no master key, and what has secrets waits for one. */
  vault: Pick<Vault, 'open'> | undefined
  /** Epoch ms, for timestamps of signed requests. */
  clock: () => number
  /** At level debug it has a line for every request, with its send time. */
  log: Pick<Logger, 'debug' | 'isLevelEnabled'>
}

export class AttemptMaker {
  readonly #options: AttemptMakerOptions

  constructor(options: AttemptMakerOptions) {
    this.#options = options
  }

  /** An attempt follows in a moment: what takes long on the way to its endpoint begins now. */
  openAhead({ record, target }: CompiledSubscription): void {
    if (record.protocol !== 'sqs' && target.locked === undefined) this.#options.sender.openAhead(target)
  }

  /**
   * `delivery` names what is appended to a queue, so that an append that is repeated changes nothing. `done` is called
   * once, never before this has returned: no promises, because this is made tens of thousands of times a second.
   */
  attempt(
    subscription: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
    done: (outcome: Outcome) => void,
    ways = NO_WAYS,
  ): void {
    const { signature, target } = subscription
    if (signature !== undefined) {
      // Whoever asks has seen to it, unless the topic began to sign, or changed how, in this moment.
      const signed = this.#options.signing.prepare(context.envelopeFor(signature), target)
      const again = () => this.attempt(subscription, context, delivery, done, ways)
      if (signed) return void signed.then(again, (error) => done(outcomeOf(unsignedFailure(error))))
    }
    const span = this.#options.spans.on ? this.#startSpan(subscription, context) : undefined
    const ended = (result: AttemptResult, along = 0) => {
      if (span) endSpan(span, result)
      const outcome = outcomeOf(result, along)
      this.#options.metrics.attempted(subscription, context, outcome, result.durationMs)
      done(outcome)
    }
    if (subscription.record.protocol === 'sqs') {
      const run = [{ delivery, message: context }, ...(ways.run ?? [])]
      const appends = appendsOf(subscription, run)
      const appending = this.#options.appends.append(subscription.record.endpoint, appends)
      void appending.then(({ result, along }) => ended(result, along))
    } else this.#post(subscription, context, { ended, span, ...ways })
  }

  #startSpan({ record }: CompiledSubscription, { message }: MessageContext): Span {
    const attributes = { 'fantail.subscription': record.id, 'fantail.message': message.messageId }
    return this.#options.spans.start('attempt', { traceparent: message.traceparent, attributes })
  }

  #post(
    subscription: CompiledSubscription,
    context: MessageContext,
    { ended, span, after, again, moment }: Posting,
  ): void {
    const { target, signature, feedback } = subscription
    const { vault, clock } = this.#options
    const traceparent = span && traceparentOf(span)
    const request = renderRequest(context.envelopeFor(signature), target, { vault, clock, traceparent })
    if ('kind' in request) return void setImmediate(ended, request)
    const textBytesMax = feedback && PROVIDER_RESPONSE_BYTES_MAX
    const onRequest = this.#requestLog(subscription, context)
    const asked =
      again &&
      ((next: Again) => {
        span?.setAttribute('fantail.again', next.cause)
        span?.end()
        again(next)
      })
    const sending = { ...request, textBytesMax, after, onRequest, moment: moment && spanned(moment, span) }
    this.#options.sender.send(sending, ended, asked)
  }

  /**
   * `sentAt`: epoch ms. `monotonicMs`: by the host's monotonic clock, which is one for all processes of a host and
   * which nobody sets, so that a throttle can be checked by it.
   */
  #requestLog({ record }: CompiledSubscription, { message }: MessageContext) {
    const { log } = this.#options
    if (!log.isLevelEnabled('debug')) return undefined
    return (again: AgainCause | undefined) => {
      const monotonicMs = Number(process.hrtime.bigint() / 1_000n) / 1_000
      const { id: subscriptionId } = record
      const { messageId } = message
      log.debug({ subscriptionId, messageId, sentAt: Date.now(), monotonicMs, again }, 'request.sent')
    }
  }
}

interface Posting extends Pick<AttemptWays, 'after' | 'again' | 'moment'> {
  ended: (result: AttemptResult) => void
  span: Span | undefined
}

function spanned(moment: SendMoment, span: Span | undefined): SendMoment {
  if (!span) return moment
  const missed = (dialMs: number) => {
    span.setAttribute('fantail.missed', true)
    span.end()
    moment.missed(dialMs)
  }
  return { isPast: () => moment.isPast(), missed }
}

/** Messages for the subscription's queue, each rendered when its turn comes. */
function* appendsOf(
  { record, target, signature }: CompiledSubscription,
  run: InRun[],
): Generator<QueueAppend> {
  for (const { delivery, message } of run) {
    const body = queueBody(message.envelopeFor(signature), target, record.endpoint)
    yield { message: message.message, item: { id: deliveryItemId(record.id, delivery), ...body } }
  }
}

function outcomeOf(result: AttemptResult, along = 0): Outcome {
  return { result, along, answeredAfterMs: hasAnswered(result) ? result.durationMs : undefined }
}

/** A refusal at once (nobody listens, no such name) says that nothing hangs. */
function hasAnswered(result: AttemptResult): boolean {
  return result.kind === 'response' || result.error !== 'timeout'
}
