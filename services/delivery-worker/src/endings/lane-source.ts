/** The source of a delivery that was claimed from its lane. Whatever follows the attempt settles the claim. */
import type { StoredWhy } from '@fantail/contracts'
import type { DeadState, RetryState } from '@fantail/store'
import type { AttemptEnd } from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import { attemptCause } from '../attempts/attempt-why.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import type { DeliveryStatus } from '../reports/delivery-status.ts'
import type { EndState, OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { Circuit } from '../settling/lane-pacing.ts'
import type { Claimed, SettleHow, Settling } from '../settling/settling.ts'
import type { DeliverySource, Return } from './endings.ts'

/**
 * Settlements of a throttled lane may linger if the requests of this time, at the lane's rate, fit into its
 * `maxInFlight`. The time is several times the usual duration of a settlement. The next request therefore never waits
 * for a settlement that lingers.
 */
const LINGER_SECONDS_MAX = 0.4
const DELIVERED = { op: 'delivered' } as const

export interface ClaimEnd extends AttemptEnd {
  claimed: Claimed
}

interface LaneSourceOptions {
  settling: Pick<Settling, 'settle'>
  deadLetters: Pick<DeadLetters, 'deadLetter'>
  recorder: Pick<OutcomeRecorder, 'ended'>
  status: Pick<DeliveryStatus, 'delivered'>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class LaneSource implements DeliverySource<ClaimEnd> {
  readonly #options: LaneSourceOptions

  constructor(options: LaneSourceOptions) {
    this.#options = options
  }

  successCause(end: ClaimEnd, outcome: Outcome, circuit: Circuit | undefined): StoredWhy | undefined {
    return attemptCause(end, outcome, circuit, this.#options.now())
  }

  async delivered(end: ClaimEnd, outcome: Outcome, why: StoredWhy | undefined): Promise<void> {
    const { claimed, subscription, followers, attempts } = end
    const to = followers
      ? ({ op: 'delivered', followers: followers.map(({ delivery }) => delivery) } as const)
      : DELIVERED
    const how: SettleHow = { mayLinger: mayLinger(end), restsOn: outcome.copy }
    const { accepted } = await this.#options.settling.settle(subscription.shard, claimed, to, how)
    if (accepted) this.#recordDelivered(end, outcome, { attempts, ...resultState(outcome.result), why })
  }

  async retry(end: ClaimEnd, state: RetryState, delayMs: number): Promise<void> {
    const retry = { op: 'retry', delayMs, state } as const
    const { settling } = this.#options
    await settling.settle(end.subscription.shard, end.claimed, retry, { mayLinger: mayLinger(end) })
  }

  dead({ claimed, subscription, context }: ClaimEnd, state: DeadState, { result }: Outcome): Promise<void> {
    return this.#options.deadLetters.deadLetter({ claimed, subscription, context, state }, result)
  }

  async returnToLane({ subscription, claimed }: ClaimEnd, _: Outcome, to: Return): Promise<void> {
    await this.#options.settling.settle(subscription.shard, claimed, to)
  }

  async block(
    { subscription, claimed }: ClaimEnd,
    _: Outcome,
    credential: string,
    delayMs: number,
  ): Promise<void> {
    await this.#options.settling.settle(subscription.shard, claimed, { op: 'block', delayMs, credential })
  }

  #recordDelivered(end: ClaimEnd, { result }: Outcome, state: EndState): void {
    const { recorder, status } = this.#options
    const { subscription, claimed, followers = [] } = end
    recorder.ended(end, 'delivered', null, state)
    if (subscription.statusLog) status.delivered({ ...end, result })
    for (const { delivery, context } of followers) {
      const one = { subscription, context, claimed: { ...claimed, delivery } }
      recorder.ended(one, 'delivered', null, { ...state, attempts: 1, why: undefined })
      if (subscription.statusLog) status.delivered({ subscription, context, delivery, attempts: 1, result })
    }
  }
}

/**
 * Whether the settlement may wait for others. It may if no delivery waits for it. In a throttled lane the next delivery
 * waits for its send time, so it rarely waits for a settlement. It would wait for this one if both are of the same FIFO
 * group, or if the lane's `maxInFlight` is so low that the two cannot be in flight together.
 */
function mayLinger({ subscription: { rate, record }, context }: ClaimEnd): boolean {
  if (rate === null || context.message.sequenceNumber !== undefined) return false
  return rate * LINGER_SECONDS_MAX <= record.maxInFlight
}
