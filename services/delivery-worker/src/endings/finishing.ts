/**
 * Ends a claimed delivery: it is delivered, due again, or dead.
 *
 * A dead delivery takes three steps: mark (the lease stays), append to the queue by the delivery's own id, settle. If a
 * worker dies between two of them, the claim's lease ends. The next worker that claims the delivery continues from the
 * mark, and attempts nothing. The same happens if Redis may have lost the append, because then it is not settled.
 * Without a dead-letter queue, and for confirmations, the delivery is discarded and counted in one step.
 */
import { endpointOf, type Why } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import { type NextStep, nextStep, PROTOCOL_TRAITS, whyNext } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import { type DeadState, deliveryGeneration } from '@fantail/store'
import type { LoggedAttempt } from '../attempts/attempt-log.ts'
import { resultState } from '../attempts/attempt-outcome.ts'
import type { AttemptReports } from '../attempts/attempt-reports.ts'
import { type ExplainedAttempt, howItCame, whyAttemptCame, whyUncounted } from '../attempts/attempt-why.ts'
import type { CredentialGate } from '../attempts/credential-gate.ts'
import type { Circuit, LanePacing } from '../settling/lane-pacing.ts'
import type { Claimed, Settling } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { InRun } from '../topics/group-run.ts'
import type { AttemptNotes } from './attempt-notes.ts'
import type { DeliveryStatus } from './delivery-status.ts'
import type { GoneEndpoints } from './gone-endpoints.ts'
import { type DeadDelivery, type LetterAppends, letterTarget } from './letter-appends.ts'
import type { MissingQueues } from './missing-queues.ts'
import type { EndState, OutcomeRecorder } from './outcome-recorder.ts'
import type { PushEvents } from './push-events.ts'

/** Lease of a dead delivery while it is appended to its queue. After it: another worker continues with the append. */
const DEAD_LEASE_MS = 15_000
/** If the append fails, the marked delivery waits this long in its lane, instead of until the end of its lease. */
const POSTPONED_MS = 2_000
const DELIVERED = { op: 'delivered' } as const
/**
 * Time whose requests, at a lane's rate, must fit into its `maxInFlight`, so that its settlements may linger. This is
 * several times the usual duration of a settlement, so that no lane waits for a settlement.
 */
const LINGER_SECONDS_MAX = 0.4

interface EndedAttempt extends ExplainedAttempt {
  claimed: Claimed
  subscription: CompiledSubscription
  /** FIFO: the deliveries that shared the attempt. They are delivered with it, or stay unchanged in their lane. */
  run?: InRun[]
  /** `first`: the attempt came straight from the job. Default: from the lane. */
  path?: 'first'
  /** The tokens that the retry took from the lane's quota. Absent: none. */
  retryCost?: number | undefined
}

/** The step after an attempt that was made. */
type Ended = Exclude<NextStep, { step: 'wait' | 'pause' }>

interface FinishingOptions {
  settling: Settling
  pacing: Pick<LanePacing, 'answered' | 'unsent'>
  letters: Pick<LetterAppends, 'append'>
  recorder: OutcomeRecorder
  missing: Pick<MissingQueues, 'add' | 'found'>
  notes: Pick<AttemptNotes, 'delivered' | 'failed'>
  reports: Pick<AttemptReports, 'ended' | 'reportsSuccess'>
  status: Pick<DeliveryStatus, 'delivered' | 'failed'>
  credentials: Pick<CredentialGate, 'standMs'>
  gone: Pick<GoneEndpoints, 'pause'>
  events: Pick<PushEvents, 'failed'>
  log: Logger
  jitter: number
  maxRetrySeconds: number
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class Finishing {
  readonly #options: FinishingOptions

  constructor(options: FinishingOptions) {
    this.#options = options
  }

  /** Resolves when Redis has the result, or has refused it because the lease was not the current one. */
  finish(ended: EndedAttempt): Promise<void> {
    const step = this.#nextStep(ended)
    if (step.step === 'wait') return this.#wait(ended, step.delayMs)
    this.#note(ended, step.step === 'delivered')
    if (step.step === 'pause') return this.#pause(ended)
    return ended.subscription.paced ? this.#finishPaced(ended, step) : this.#finishAs(step, ended)
  }

  #nextStep({ outcome, subscription, attempts }: EndedAttempt): NextStep {
    const { jitter, maxRetrySeconds } = this.#options
    return nextStep({
      result: outcome.result,
      protocol: subscription.record.protocol,
      subscription: subscription.record,
      attempts,
      policy: subscription.policy.healthyRetryPolicy,
      jitter,
      random: Math.random,
      maxRetrySeconds,
    })
  }

  /** If the circuit was open, a delivery that would be retried keeps its place, and no retry is counted. */
  async #finishPaced(ended: EndedAttempt, step: Ended): Promise<void> {
    const { claimed, subscription } = ended
    const circuit = await this.#reportLane(ended)
    if (!circuit.open || !isRetryable(step)) return this.#finishAs(step, ended, circuit)
    this.#log(ended, 'circuitOpen', whyUncounted(subscription), circuit)
    await this.#options.settling.settle(subscription.shard, claimed, { op: 'returnUncounted' })
  }

  /** `circuit`: the state of its lane's circuit before the attempt ended. */
  #finishAs(step: Ended, ended: EndedAttempt, circuit?: Circuit): Promise<void> {
    if (step.step === 'delivered') return this.#deliver(ended, circuit)
    if (step.step === 'retry') return this.#retry(ended, step, circuit)
    if (step.step === 'stand') return this.#stand(ended)
    this.#log(ended, 'dead', whyNext(step), circuit)
    return this.#die(ended, { kind: 'dead', reason: step.because, ...stateOf(ended) })
  }

  async #deliver(ended: EndedAttempt, circuit: Circuit | undefined): Promise<void> {
    const { claimed, subscription, outcome, run } = ended
    const why = whyAttemptCame(ended, circuit, this.#options.now())
    this.#log(ended, 'delivered', why, circuit)
    const to = run ? ({ op: 'delivered', run: run.map(({ delivery }) => delivery) } as const) : DELIVERED
    const how = { later: mayLinger(ended), restsOn: outcome.copy }
    const { accepted } = await this.#options.settling.settle(subscription.shard, claimed, to, how)
    if (accepted) this.#recordDelivered(ended, { ...stateOf(ended), why })
  }

  async #retry(
    ended: EndedAttempt,
    step: NextStep & { step: 'retry' },
    circuit: Circuit | undefined,
  ): Promise<void> {
    const { claimed, subscription } = ended
    const why = whyNext(step)
    this.#log(ended, 'retry', why, circuit)
    const state = { kind: 'retry', ...stateOf(ended), why } as const
    const retry = { op: 'retry', delayMs: step.delayMs, state } as const
    await this.#options.settling.settle(subscription.shard, claimed, retry, { later: mayLinger(ended) })
  }

  /** `circuit`: the state of its lane's circuit before the attempt ended. */
  #log(
    ended: EndedAttempt,
    decision: LoggedAttempt['decision'],
    why: Why | undefined,
    circuit?: Circuit,
  ): void {
    const { reports } = this.#options
    if (decision === 'delivered' && !reports.reportsSuccess(ended.subscription)) return
    const { path = 'lane', outcome } = ended
    const came = (startedAt: number) => howItCame(ended, circuit, startedAt)
    reports.ended({ ...ended, path, result: outcome.result, decision, why, came })
  }

  /** Called if no request was sent. This says nothing about the endpoint, so no retry is counted. */
  async #wait(ended: EndedAttempt, delayMs: number): Promise<void> {
    const { claimed, subscription } = ended
    this.#log(ended, 'wait', { because: 'serviceLimit', delayMs })
    await this.#options.settling.settle(subscription.shard, claimed, { op: 'returnUnsent', delayMs })
  }

  /**
   * Called if the attempt failed because of the service's own configuration. The delivery keeps its place in the lane,
   * and no retry is counted.
   */
  async #stand(ended: EndedAttempt): Promise<void> {
    const { claimed, subscription, outcome } = ended
    if (outcome.result.kind !== 'misconfigured') return
    const { credential } = outcome.result
    const delayMs = this.#options.credentials.standMs
    this.#log(ended, 'misconfigured', { because: 'misconfigured', delayMs })
    await this.#options.settling.settle(subscription.shard, claimed, { op: 'stand', delayMs, credential })
  }

  /**
   * The endpoint is gone. The subscription is paused before the delivery returns to its lane, so that no worker claims
   * it. The answer does not count for retry mode and circuit breaker.
   */
  async #pause(ended: EndedAttempt): Promise<void> {
    const { claimed, subscription, retryCost = 0 } = ended
    const { gone, pacing, settling } = this.#options
    this.#log(ended, 'gone', { because: 'gone', delayMs: null })
    if (subscription.paced) pacing.unsent(subscription.shard, subscription.record.id, retryCost)
    const isPaused = await gone.pause(subscription.record)
    const back = { op: 'returnUnsent', delayMs: POSTPONED_MS } as const
    await settling.settle(subscription.shard, claimed, isPaused ? { op: 'returnUncounted' } : back)
  }

  #note({ subscription, outcome, run = [] }: EndedAttempt, isDelivered: boolean): void {
    const { notes } = this.#options
    if (isDelivered) notes.delivered(subscription, 1 + run.length)
    else notes.failed(subscription, outcome.result)
  }

  /** Reports the answer, and returns the state of the lane's circuit before the attempt ended. */
  #reportLane({ subscription, outcome, retryCost = 0 }: EndedAttempt): Promise<Circuit> {
    return this.#options.pacing.answered(subscription, outcome.result, retryCost)
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
    if (ended.subscription.feedback) this.#reportDelivered(ended)
  }

  #reportDelivered(ended: EndedAttempt): void {
    const { subscription, message, attempts, run = [], claimed, outcome } = ended
    const head = { delivery: claimed.delivery, message, attempts }
    const all = [head, ...run.map((one) => ({ ...one, attempts: 1 }))]
    for (const one of all) this.#options.status.delivered({ subscription, ...one, result: outcome.result })
  }

  /**
   * Ends a delivery that was claimed as dead, or has become dead. It goes to its queue, or is discarded and counted.
   */
  async deadLetter(dead: DeadDelivery): Promise<void> {
    const gone = await this.#moveDead(dead, true)
    // An attempted delivery was recorded when it was marked.
    if (!gone || dead.state.reason !== 'expired') return
    const { attempts } = dead.state
    this.#options.status.failed({ ...dead, ...dead.claimed, attempts, result: undefined })
  }

  /** Returns false if the delivery has not left its lane. `waited`: it was marked dead before it was claimed. */
  async #moveDead(dead: DeadDelivery, waited = false): Promise<boolean> {
    const target = letterTarget(dead)
    if (target === null) return this.#discard(dead, dead.state.reason)
    const appended = await this.#options.letters.append(dead, target)
    if (appended.outcome === 'later') return this.#postpone(dead)
    if (appended.outcome === 'missing') return this.#awaitQueue(dead, appended.queueArn)
    if (appended.outcome === 'denied') return this.#discard(dead, 'deadLetterQueueDenied')
    const { queueArn, restsOn } = appended
    if (!(await this.#reported(dead))) return this.#postpone(dead)
    const ended = { op: 'deadLettered' } as const
    const { accepted } = await this.#options.settling.settle(dead.subscription.shard, dead.claimed, ended, {
      restsOn,
    })
    if (waited) this.#options.missing.found(queueArn, laneOf(dead))
    if (!accepted) return false
    this.#options.recorder.ended(dead, 'deadLettered', dead.state.reason, dead.state)
    const { subscriptionId } = dead.claimed
    const { messageId } = dead.message.message
    const { reason, statusCode, error, attempts } = dead.state
    this.#options.log.warn(
      { messageId, subscriptionId, queueArn, reason, statusCode, error, attempts },
      'delivery.dead_lettered',
    )
    return true
  }

  /**
   * The dead-letter queue does not exist. A native delivery waits for it while the topic keeps messages. Others are
   * discarded, as in SNS.
   */
  async #awaitQueue(dead: DeadDelivery, queueArn: string): Promise<boolean> {
    const leftMs = dead.subscription.record.origin === 'native' ? this.#retentionLeftMs(dead) : 0
    if (leftMs <= 0) return this.#discard(dead, 'deadLetterQueueMissing')
    const { settling, missing, recorder } = this.#options
    missing.add(queueArn, laneOf(dead))
    recorder.awaitsQueue(dead.subscription)
    const wait = { op: 'awaitQueue', delayMaxMs: leftMs } as const
    await settling.settle(dead.subscription.shard, dead.claimed, wait)
    return false
  }

  /** Ms until the delivery is too old. A redriven delivery is never too old. The same rule holds in lanes. */
  #retentionLeftMs({ subscription, claimed, message }: DeadDelivery): number {
    if (deliveryGeneration(claimed.delivery) > 0) return subscription.retentionMs
    return message.message.publishedAt + subscription.retentionMs - this.#options.now()
  }

  /** Returns the claim with its mark to its lane. The next worker that claims it continues with the append. */
  async #postpone({ subscription, claimed }: DeadDelivery): Promise<false> {
    const back = { op: 'returnUnsent', delayMs: POSTPONED_MS } as const
    await this.#options.settling.settle(subscription.shard, claimed, back)
    return false
  }

  async #die(ended: EndedAttempt, state: DeadState): Promise<void> {
    const dead = { ...ended, state }
    const { status } = this.#options
    const finished = { ...ended, ...ended.claimed, result: ended.outcome.result }
    // A delivery whose event may have to be tried again needs the mark, so that it is not attempted again.
    if (letterTarget(dead) === null && !hasEvent(dead)) {
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
    await this.#moveDead({ ...dead, claimed: { ...ended.claimed, lease: lease ?? ended.claimed.lease } })
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

function stateOf({ attempts, outcome }: EndedAttempt) {
  const { statusCode, error } = resultState(outcome.result)
  return { attempts, statusCode, error }
}

function hasEvent({ subscription }: DeadDelivery): boolean {
  return PROTOCOL_TRAITS[subscription.record.protocol].reports.byApplication
}

function laneOf({ subscription, claimed }: DeadDelivery) {
  return { shard: subscription.shard, subscriptionId: claimed.subscriptionId }
}

/** The endpoint is shown without credentials. */
function discardedLine({ subscription, message, state }: DeadDelivery, cause: string) {
  const { id: subscriptionId, topicArn } = subscription.record
  const { messageId } = message.message
  const { statusCode, error, attempts } = state
  return {
    messageId,
    topicArn,
    subscriptionId,
    endpoint: maskCredentials(endpointOf(subscription.record, message.message)),
    cause,
    statusCode,
    error,
    attempts,
  }
}

function isRetryable(step: NextStep): boolean {
  return step.step === 'retry' || (step.step === 'dead' && step.because === 'retriesExhausted')
}

/**
 * Whether the settlement may wait for others. In a throttled lane it may, because the next delivery waits for its send
 * time and not for the end of this one. There are two exceptions. The next delivery may be of the same FIFO group. Or
 * so few deliveries may be in flight that the next one waits for the end of this one.
 */
function mayLinger({ subscription: { rate, record }, message }: EndedAttempt): boolean {
  if (rate === null || message.message.sequenceNumber !== undefined) return false
  return rate * LINGER_SECONDS_MAX <= record.maxInFlight
}
