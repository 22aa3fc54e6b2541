/**
 * The end of a claimed delivery: delivered, due again, or dead.
 *
 * Dead takes three steps: mark (the lease stays), append to the queue by the delivery's own id, forget. A worker that
 * dies between two of them leaves a claim whose lease runs out. The next worker that claims it continues from the mark
 * and attempts nothing. The same happens if Redis may have lost the append: then nothing is forgotten. Without a
 * dead-letter queue, and for confirmations, the delivery is discarded and counted in one step.
 */
import { FantailError, type Why } from '@fantail/contracts'
import { type Envelope, type EnvelopeSigning, type QueueAdmission, queueBody } from '@fantail/delivery'
import { type NextStep, nextStep, whyNext } from '@fantail/policy'
import { createStateLog, type Logger } from '@fantail/runtime'
import {
  type DeadState,
  deadLetterItemId,
  parseDeliveryId,
  type Queues,
  type ServerMarks,
  type StorageGuard,
  shardBase,
  shardOf,
} from '@fantail/store'
import { type LoggedAttempt, logAttempt } from '../attempts/attempt-log.ts'
import { resultState } from '../attempts/attempt-outcome.ts'
import { type ExplainedAttempt, whyAttemptCame, whyKept } from '../attempts/attempt-why.ts'
import type { InRun } from '../fifo/group-run.ts'
import type { Circuit, LanePacing } from '../lanes/lane-pacing.ts'
import type { Claimed, Settling } from '../lanes/settling.ts'
import { type TellPart, tellParts } from '../shards/part-states.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import type { DeliveryStatus } from './delivery-status.ts'
import type { EndState, OutcomeRecorder } from './outcome-recorder.ts'

/**
 * @limit Lease of a dead delivery while it is appended to its queue. After it: another worker goes on with the append.
 */
const DEAD_LEASE_MS = 15_000
/** If the append fails, the marked delivery waits this long in its lane instead of to the end of its lease. */
const POSTPONED_MS = 2_000
/**
 * Several times a settlement's real duration, so that no lane waits for it.
 * @limit Time whose requests, at a lane's rate, must fit into its `maxInFlight`, so that its settlements may linger.
 */
const LINGER_SECONDS_MAX = 0.4
/**
 * With more waiting, what is dead is handed back and comes again: burials hold no slots that would bound them.
 * @limit Dead deliveries that wait to be signed. Past it: a dead delivery goes back to its lane, marked.
 */
const SIGNATURES_WAITING_MAX = 2_000

interface EndedAttempt extends ExplainedAttempt {
  claimed: Claimed
  subscription: CompiledSubscription
  /** FIFO: what shared the attempt; delivered with it, or untouched in its lane. */
  run?: InRun[]
  /** The quota of its lane that the retry took; absent: none. */
  retryCost?: number
}

interface DeadDelivery {
  claimed: Claimed
  subscription: CompiledSubscription
  message: MessageContext
  state: DeadState
}

interface FinishingOptions {
  settling: Settling
  servers: Pick<ServerMarks, 'mark'>
  pacing: Pick<LanePacing, 'answered'>
  queues: Queues
  admission: QueueAdmission
  memory: Pick<StorageGuard, 'admitDeadLetter'>
  signing: Pick<EnvelopeSigning, 'prepare' | 'waiting'>
  recorder: OutcomeRecorder
  status: Pick<DeliveryStatus, 'delivered' | 'failed'>
  log: Logger
  jitter: number
  maxRetrySeconds: number
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class Finishing {
  readonly #options: FinishingOptions
  /** By queue: a queue that is away fails for each delivery every two seconds, which would be as many log lines. */
  readonly #tell: TellPart

  constructor(options: FinishingOptions) {
    this.#options = options
    this.#tell = tellParts(createStateLog({ log: options.log, what: 'dead_letters', initial: 'up' }))
  }

  /** Resolves when Redis has it, or the lease was no longer ours. */
  async finish(ended: EndedAttempt): Promise<void> {
    const { claimed, subscription, attempts, outcome } = ended
    const { jitter, maxRetrySeconds, settling } = this.#options
    const policy = subscription.policy.healthyRetryPolicy
    const state = { attempts, ...resultState(outcome.result) }
    const step = nextStep({
      result: outcome.result,
      protocol: subscription.record.protocol,
      attempts,
      policy,
      jitter,
      random: Math.random,
      maxRetrySeconds,
    })
    const circuit = subscription.paced ? await this.#tellLane(ended) : undefined
    const kept = circuit?.open === true && isRetryable(step)
    const later = mayLinger(ended)
    if (kept) {
      this.#log(ended, 'circuitOpen', whyKept(subscription))
      await settling.settle(subscription.shard, claimed, { op: 'kept' })
    } else if (step.step === 'delivered') {
      const why = whyAttemptCame(ended, circuit, this.#options.now())
      this.#log(ended, 'delivered', why)
      const run = ended.run && { run: ended.run.map(({ delivery }) => delivery) }
      const restsOn = outcome.copy
      const to = { op: 'delivered', ...run } as const
      const { accepted } = await settling.settle(subscription.shard, claimed, to, { later, restsOn })
      if (accepted) this.#recordDelivered(ended, { ...state, why })
    } else if (step.step === 'retry') {
      const why = whyNext(step)
      this.#log(ended, 'retry', why)
      const retry = { op: 'retry', delayMs: step.delayMs, state: { kind: 'retry', ...state, why } } as const
      await settling.settle(subscription.shard, claimed, retry, { later })
    } else {
      this.#log(ended, 'dead', whyNext(step))
      await this.#die(ended, { kind: 'dead', reason: step.because, ...state })
    }
  }

  #log(ended: EndedAttempt, decision: LoggedAttempt['decision'], why: Why | undefined): void {
    logAttempt(this.#options.log, { ...ended, result: ended.outcome.result, decision, why })
  }

  /** The lane's circuit before the attempt ended. Open: a failure costs the delivery neither its place nor a retry. */
  #tellLane({ subscription, claimed, outcome, retryCost = 0 }: EndedAttempt): Promise<Circuit> {
    const { pacing } = this.#options
    return pacing.answered(subscription.shard, claimed.subscriptionId, outcome.result, retryCost)
  }

  #recordDelivered(ended: EndedAttempt, state: EndState): void {
    const { recorder } = this.#options
    recorder.ended(ended, 'delivered', null, state)
    for (const { delivery, message } of ended.run ?? []) {
      const claimed = { ...ended.claimed, delivery }
      recorder.ended({ ...ended, claimed, message }, 'delivered', null, {
        ...state,
        attempts: 1,
        why: undefined,
      })
    }
    if (ended.subscription.feedback) this.#tellDelivered(ended)
  }

  #tellDelivered(ended: EndedAttempt): void {
    const { subscription, message, attempts, run = [], claimed, outcome } = ended
    const head = { delivery: claimed.delivery, message, attempts }
    const all = [head, ...run.map((one) => ({ ...one, attempts: 1 }))]
    for (const one of all) this.#options.status.delivered({ subscription, ...one, result: outcome.result })
  }

  /** A delivery that was claimed marked dead, or has become so: to its queue, or counted. */
  async bury(dead: DeadDelivery): Promise<void> {
    const gone = await this.#buried(dead)
    // An attempted delivery was recorded when it was marked.
    if (!gone || dead.state.reason !== 'expired') return
    const { attempts } = dead.state
    this.#options.status.failed({ ...dead, ...dead.claimed, attempts, result: undefined })
  }

  /** False where it has not left its lane. */
  async #buried(dead: DeadDelivery): Promise<boolean> {
    const target = deadLetterTarget(dead)
    if (target === null) return this.#discard(dead, dead.state.reason)
    const restsOn = this.#options.servers.mark(shardBase(shardOf(target)))
    const appended = await this.#append(dead, target)
    if (appended === 'later') return this.#postpone(dead)
    if (appended === 'missing') return this.#discard(dead, 'deadLetterQueueMissing')
    if (appended === 'denied') return this.#discard(dead, 'deadLetterQueueDenied')
    const forget = { op: 'forget' } as const
    const { accepted } = await this.#options.settling.settle(dead.subscription.shard, dead.claimed, forget, {
      restsOn,
    })
    if (!accepted) return false
    this.#options.recorder.ended(dead, 'deadLettered', dead.state.reason, dead.state)
    const { subscriptionId } = dead.claimed
    const { messageId } = dead.message.message
    const { reason, statusCode, error, attempts } = dead.state
    this.#options.log.info(
      { messageId, subscriptionId, queueArn: target, reason, statusCode, error, attempts },
      'delivery.dead_lettered',
    )
    return true
  }

  /** Hands the claim back with its mark. The next worker that takes it continues with the append. */
  async #postpone({ subscription, claimed }: DeadDelivery): Promise<false> {
    const back = { op: 'return', delayMs: POSTPONED_MS } as const
    await this.#options.settling.settle(subscription.shard, claimed, back)
    return false
  }

  async #die(ended: EndedAttempt, state: DeadState): Promise<void> {
    const dead = { ...ended, state }
    const { status } = this.#options
    const finished = { ...ended, ...ended.claimed, result: ended.outcome.result }
    if (deadLetterTarget(dead) === null) {
      if (await this.#discard(dead, state.reason)) status.failed(finished)
      return
    }
    const mark = { op: 'markDead', leaseMs: DEAD_LEASE_MS, state } as const
    const { accepted, lease } = await this.#options.settling.settle(
      ended.subscription.shard,
      ended.claimed,
      mark,
    )
    if (!accepted) return
    status.failed(finished)
    await this.bury({ ...dead, claimed: { ...ended.claimed, lease: lease ?? ended.claimed.lease } })
  }

  async #discard(dead: DeadDelivery, cause: string): Promise<boolean> {
    const { settling, log, recorder } = this.#options
    const { accepted } = await settling.settle(dead.subscription.shard, dead.claimed, {
      op: 'discard',
      cause,
    })
    if (!accepted) return false
    recorder.ended(dead, cause === 'expired' ? 'expired' : 'discarded', cause, dead.state)
    const { id } = dead.subscription.record
    log.warn({ subscriptionId: id, messageId: dead.message.message.messageId, cause }, 'delivery.discarded')
    return true
  }

  /** The envelope as the endpoint would have got it. */
  async #signed({ subscription, message }: DeadDelivery): Promise<Envelope> {
    const { signature, target } = subscription
    const envelope = message.envelopeFor(signature)
    if (signature === undefined) return envelope
    if (this.#options.signing.waiting > SIGNATURES_WAITING_MAX) throw new Error('too much waits to be signed')
    await this.#options.signing.prepare(envelope, target)
    return envelope
  }

  /** 'later': the queue could not be reached, memory has no space for it, or it could not be signed. */
  async #append(dead: DeadDelivery, queueArn: string): Promise<'done' | 'missing' | 'denied' | 'later'> {
    const { subscription, message, state, claimed } = dead
    const { messageId, generation } = parseDeliveryId(claimed.delivery)
    const { record } = subscription
    const letter = {
      reason: state.reason,
      statusCode: state.statusCode,
      lastError: state.error,
      attempts: state.attempts,
      subscriptionArn: record.arn,
      topicArn: record.topicArn,
      messageId,
      generation,
      publishedAt: message.message.publishedAt,
      deadLetteredAt: this.#options.now(),
      message: message.message,
    }
    const id = deadLetterItemId(record.id, claimed.delivery)
    try {
      if (await this.#options.admission.denies(queueArn, message.message)) return 'denied'
      await this.#options.memory.admitDeadLetter()
      const item = queueBody(await this.#signed(dead), subscription.target, queueArn)
      await this.#options.queues.send(queueArn, [{ id, ...item, deadLetter: letter }])
      this.#tell(queueArn, 'up')
      return 'done'
    } catch (error) {
      const missing = error instanceof FantailError && error.code === 'not_found'
      this.#tell(queueArn, missing ? 'up' : 'down', error)
      this.#options.log.debug({ queueArn, messageId, error: String(error) }, 'dead_letter.postponed')
      return missing ? 'missing' : 'later'
    }
  }
}

function isRetryable(step: NextStep): boolean {
  return step.step === 'retry' || (step.step === 'dead' && step.because === 'retriesExhausted')
}

/**
 * A throttled lane's next delivery follows its send time and not the end of this one. Exceptions: so few may be in
 * flight that it waits for this one, or it is of the same group.
 */
function mayLinger({ subscription: { rate, record }, message }: EndedAttempt): boolean {
  if (rate === null || message.message.sequenceNumber !== undefined) return false
  return rate * LINGER_SECONDS_MAX <= record.maxInFlight
}

/** null: none, or a confirmation, which never goes to a dead-letter queue. */
function deadLetterTarget({
  subscription,
  message,
}: Pick<DeadDelivery, 'subscription' | 'message'>): string | null {
  if (message.message.kind !== undefined && message.message.kind !== 'Notification') return null
  return subscription.record.redrivePolicy?.deadLetterTargetArn ?? null
}
