/**
 * Gives up a claimed delivery: it goes to its dead-letter queue, or is discarded and counted.
 *
 * A dead delivery takes three steps: declare it dead (the lease stays), append to the queue by the delivery's own id,
 * settle. If a worker dies between two of them, the claim's lease ends. The next worker that claims the delivery
 * continues with the append, and attempts nothing. The same happens if Redis may have lost the append, because then it
 * is not settled. Without a dead-letter queue, and for confirmations, the delivery is discarded and counted in one
 * step.
 */
import { type AttemptResult, endpointOf } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import { PROTOCOL_TRAITS } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import { deliveryGeneration } from '@fantail/store'
import type { DeliveryStatus } from '../reports/delivery-status.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { Settling } from '../settling/settling.ts'
import { type DeadDelivery, type LetterAppends, letterTarget } from './letter-appends.ts'
import type { MissingQueues } from './missing-queues.ts'
import type { MobilePushEvents } from './mobile-push-events.ts'

/**
 * @limit Lease of a dead delivery while it is appended to its queue. After it: another worker continues with the
 * append.
 */
const DEAD_LEASE_MS = 15_000
/** If the append fails, the dead delivery waits this long in its lane, instead of until the end of its lease. */
const POSTPONED_MS = 2_000

interface DeadLettersOptions {
  settling: Pick<Settling, 'settle'>
  letters: Pick<LetterAppends, 'append'>
  recorder: Pick<OutcomeRecorder, 'ended' | 'awaitsDlq'>
  missing: Pick<MissingQueues, 'add' | 'found'>
  status: Pick<DeliveryStatus, 'failed'>
  events: Pick<MobilePushEvents, 'failed'>
  log: Logger
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class DeadLetters {
  readonly #options: DeadLettersOptions

  constructor(options: DeadLettersOptions) {
    this.#options = options
  }

  async deadLetter(dead: DeadDelivery, result: AttemptResult): Promise<void> {
    const { status, settling } = this.#options
    const { subscription, claimed, state } = dead
    const finished = { ...dead, ...claimed, attempts: state.attempts, result }
    // A delivery whose event may have to be tried again is declared dead first, so that it is not attempted again.
    if (letterTarget(dead) === null && !hasEvent(dead)) {
      if (await this.#discard(dead, state.cause)) status.failed(finished)
      return
    }
    const declared = { op: 'declareDead', leaseMs: DEAD_LEASE_MS, state } as const
    const { accepted, lease } = await settling.settle(subscription.shard, claimed, declared)
    if (!accepted) return
    status.failed(finished)
    await this.#move({ ...dead, claimed: { ...claimed, lease: lease ?? claimed.lease } })
  }

  /** Continues with a delivery that was declared dead before it was claimed. */
  async resume(dead: DeadDelivery): Promise<void> {
    const gone = await this.#move(dead, true)
    // An attempted delivery was recorded when it was declared dead.
    if (!gone || dead.state.cause !== 'expired') return
    const { attempts } = dead.state
    this.#options.status.failed({ ...dead, ...dead.claimed, attempts, result: undefined })
  }

  /** Returns false if the delivery has not left its lane. `waited`: it was declared dead before it was claimed. */
  async #move(dead: DeadDelivery, waited = false): Promise<boolean> {
    const target = letterTarget(dead)
    if (target === null) return this.#discard(dead, dead.state.cause)
    const appended = await this.#options.letters.append(dead, target)
    if (appended.outcome === 'later') return this.#postpone(dead)
    if (appended.outcome === 'missing') return this.#awaitDlq(dead, appended.queueArn)
    if (appended.outcome === 'denied') return this.#discard(dead, 'deadLetterQueueDenied')
    const { queueArn, restsOn } = appended
    if (!(await this.#reported(dead))) return this.#postpone(dead)
    const ended = { op: 'deadLettered' } as const
    const { accepted } = await this.#options.settling.settle(dead.subscription.shard, dead.claimed, ended, {
      restsOn,
    })
    if (waited) this.#options.missing.found(queueArn, laneOf(dead))
    if (!accepted) return false
    this.#options.recorder.ended(dead, 'deadLettered', dead.state.cause, dead.state)
    const { subscriptionId } = dead.claimed
    const { messageId } = dead.context.message
    const { cause, statusCode, error, attempts } = dead.state
    this.#options.log.warn(
      { messageId, subscriptionId, queueArn, cause, statusCode, error, attempts },
      'delivery.dead_lettered',
    )
    return true
  }

  /**
   * The dead-letter queue does not exist. A native delivery waits for it while the topic keeps messages. Others are
   * discarded, as in SNS.
   */
  async #awaitDlq(dead: DeadDelivery, queueArn: string): Promise<boolean> {
    const leftMs = dead.subscription.record.origin === 'native' ? this.#retentionLeftMs(dead) : 0
    if (leftMs <= 0) return this.#discard(dead, 'deadLetterQueueMissing')
    const { settling, missing, recorder } = this.#options
    missing.add(queueArn, laneOf(dead))
    recorder.awaitsDlq(dead.subscription)
    const wait = { op: 'awaitDlq', delayMaxMs: leftMs } as const
    await settling.settle(dead.subscription.shard, dead.claimed, wait)
    return false
  }

  /** Ms until the delivery is too old. A redriven delivery is never too old, as in lanes. */
  #retentionLeftMs({ subscription, claimed, context }: DeadDelivery): number {
    if (deliveryGeneration(claimed.delivery) > 0) return subscription.retentionMs
    return context.message.publishedAt + subscription.retentionMs - this.#options.now()
  }

  /** Returns the dead delivery to its lane. The next worker that claims it continues with the append. */
  async #postpone({ subscription, claimed }: DeadDelivery): Promise<false> {
    const back = { op: 'returnToLane', delayMs: POSTPONED_MS } as const
    await this.#options.settling.settle(subscription.shard, claimed, back)
    return false
  }

  /**
   * Publishes the event about the failure. Returns false if this must be tried again, and the delivery is not too old
   * for that.
   */
  async #reported(dead: DeadDelivery): Promise<boolean> {
    if (!hasEvent(dead)) return true
    return (await this.#options.events.failed(dead)) || this.#retentionLeftMs(dead) <= 0
  }

  async #discard(dead: DeadDelivery, cause: string): Promise<boolean> {
    const { settling, log, recorder } = this.#options
    if (!(await this.#reported(dead))) return this.#postpone(dead)
    const { accepted } = await settling.settle(dead.subscription.shard, dead.claimed, {
      op: 'discard',
      cause,
    })
    if (!accepted) return false
    recorder.ended(dead, cause === 'expired' ? 'expired' : 'discarded', cause, dead.state)
    log.warn(discardedLine(dead, cause), 'delivery.discarded')
    return true
  }
}

function hasEvent({ subscription }: DeadDelivery): boolean {
  return PROTOCOL_TRAITS[subscription.record.protocol].reports.byApplication
}

function laneOf({ subscription, claimed }: DeadDelivery) {
  return { shard: subscription.shard, subscriptionId: claimed.subscriptionId }
}

/** The endpoint is shown without credentials. */
function discardedLine({ subscription, context, state }: DeadDelivery, cause: string) {
  const { id: subscriptionId, topicArn } = subscription.record
  const { messageId } = context.message
  const { statusCode, error, attempts } = state
  return {
    messageId,
    topicArn,
    subscriptionId,
    endpoint: maskCredentials(endpointOf(subscription.record, context.message)),
    cause,
    statusCode,
    error,
    attempts,
  }
}
