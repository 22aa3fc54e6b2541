/** Makes one attempt at a subscription's endpoint. Every failure is an outcome, so it never throws. */
import type {
  Attempt,
  AttemptDone,
  Attempters,
  EnvelopeSigning,
  FurtherCause,
  FurtherRequest,
  KeepAnswer,
  Outgoing,
  SendMoment,
  SignatureVersion,
} from '@fantail/delivery'
import type { Logger } from '@fantail/runtime'
import { type Span, type Spans, traceparentOf } from '@fantail/telemetry'
import type { Follower } from '../messages/followers.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import {
  endSpan,
  type Outcome,
  outcomeOf,
  PROVIDER_RESPONSE_BYTES_MAX,
  unsignedResult,
} from './attempt-outcome.ts'
import type { CredentialGate } from './credential-gate.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** Options of one attempt. */
export interface AttemptOptions {
  /**
   * Further messages of the FIFO group that may be sent together with this one. The outcome says how many were sent.
   */
  followers?: Follower[] | undefined
  /** The earlier requests of this attempt, if there were any. */
  earlier?: FurtherRequest | undefined
  /** Called instead of `done` if the attempt needs another request. If absent, that request is made at once. */
  again?: (further: FurtherRequest) => void
  /**
   * The time at which the request may be written. If the time has passed before the request is written, `missed` is
   * called instead of `done`.
   */
  moment?: SendMoment
}

const NO_OPTIONS: AttemptOptions = {}

interface KeepsAnswers {
  /** Which answers an attempt keeps for its record. Undefined: none. */
  keepFor(subscription: CompiledSubscription): KeepAnswer | undefined
}

interface AttemptMakerOptions {
  attempters: Attempters
  signing: Pick<EnvelopeSigning, 'prepare'>
  metrics: WorkerMetrics
  credentials: Pick<CredentialGate, 'ended'>
  recording: KeepsAnswers
  spans: Spans
  /** At level debug, every request has a log line with its send time. */
  log: Pick<Logger, 'debug' | 'isLevelEnabled'>
}

export class AttemptMaker {
  readonly #options: AttemptMakerOptions
  readonly #logsRequests: boolean

  constructor(options: AttemptMakerOptions) {
    this.#options = options
    this.#logsRequests = options.log.isLevelEnabled('debug')
  }

  /** Whether the subscription's deliveries are sent in batches. All of them then go through its lane. */
  goInBatches({ record }: CompiledSubscription): boolean {
    return this.#options.attempters[record.protocol].batching !== undefined
  }

  /** Called when an attempt follows soon. If connections to the endpoint open slowly, one is opened now. */
  openAhead({ record, target }: CompiledSubscription): void {
    this.#options.attempters[record.protocol].openAhead(target)
  }

  /**
   * `delivery` identifies the delivery, so that the endpoint may recognise a repeated attempt. `done` is called once,
   * never before this has returned. There are no promises, because this runs tens of thousands of times a second.
   */
  attempt(
    subscription: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
    done: (outcome: Outcome) => void,
    options = NO_OPTIONS,
  ): void {
    const { signature, target } = subscription
    if (signature !== undefined) {
      // The caller has made sure that the signature is ready. It is missing only if the signing of the topic has just
      // changed.
      const signed = this.#options.signing.prepare(context.envelopeFor(signature), target)
      const again = () => this.attempt(subscription, context, delivery, done, options)
      const unsigned = (error: unknown) => {
        const result = unsignedResult(error)
        this.#options.credentials.ended(subscription, result)
        done(outcomeOf(result))
      }
      if (signed) return void signed.then(again, unsigned)
    }
    const span = this.#options.spans.on ? this.#startSpan(subscription, context) : undefined
    const ended: AttemptDone = (result, followersSent = 0, copy) => {
      if (span) endSpan(span, result)
      const outcome = outcomeOf(result, followersSent, copy)
      this.#options.metrics.attempted(subscription, context, outcome, result.durationMs)
      this.#options.credentials.ended(subscription, result)
      done(outcome)
    }
    this.#send(subscription, context, delivery, options, ended, span)
  }

  #startSpan({ record }: CompiledSubscription, { message }: MessageContext): Span {
    const attributes = { 'fantail.subscription': record.id, 'fantail.message': message.messageId }
    return this.#options.spans.start('attempt', { traceparent: message.traceparent, attributes })
  }

  #send(
    subscription: CompiledSubscription,
    context: MessageContext,
    delivery: Buffer,
    { followers, earlier, again, moment }: AttemptOptions,
    ended: AttemptDone,
    span: Span | undefined,
  ): void {
    const { record, target, signature, statusLog } = subscription
    const asked =
      again &&
      ((next: FurtherRequest) => {
        span?.setAttribute('fantail.again', next.cause)
        span?.end()
        again(next)
      })
    // The number or platform endpoint of a direct message.
    const { target: url } = context.message
    const attempt: Attempt = {
      target: url === undefined ? target : { ...target, url },
      envelope: context.envelopeFor(signature),
      delivery,
      followers: followers && sentOf(followers, signature),
      traceparent: span && traceparentOf(span),
      textBytesMax: statusLog && PROVIDER_RESPONSE_BYTES_MAX,
      keepAnswer: this.#options.recording.keepFor(subscription),
      earlier,
      onRequest: this.#logsRequests ? this.#requestLog(subscription, context) : undefined,
      moment: moment && spanned(moment, span),
    }
    this.#options.attempters[record.protocol].attempt(attempt, ended, asked)
  }

  /**
   * Logs each request. `sentAt`: epoch ms. `monotonicMs`: the monotonic clock of the host. All processes of a host
   * share that clock, and it is never set. So the log lines show whether a throttle was kept.
   */
  #requestLog({ record }: CompiledSubscription, { message }: MessageContext) {
    const { log } = this.#options
    return (again: FurtherCause | undefined) => {
      const monotonicMs = Number(process.hrtime.bigint() / 1_000n) / 1_000
      const { id: subscriptionId } = record
      const { messageId } = message
      log.debug({ subscriptionId, messageId, sentAt: Date.now(), monotonicMs, again }, 'request.sent')
    }
  }
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

/** The messages of followers, each rendered only when it is needed. */
function* sentOf(followers: Follower[], signature: SignatureVersion | undefined): Generator<Outgoing> {
  for (const { delivery, context } of followers) yield { envelope: context.envelopeFor(signature), delivery }
}
