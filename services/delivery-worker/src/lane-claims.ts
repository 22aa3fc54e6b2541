/** What becomes of the claims that a take, or the sweep, has made: each is attempted, buried, discarded or handed back. */
import { retryCost } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import { type ClaimedLane, CorruptRecordError, type TakeResult } from '@fantail/store'
import type { AttemptSlots } from './attempt-slots.ts'
import { type CompiledSlice, mayGo } from './compiled-slice.ts'
import { runOf } from './fifo/group-run.ts'
import { type ClaimInHand, claimedOf, type LaneAttempts } from './lane-attempts.ts'
import type { LaneBodies } from './lane-bodies.ts'
import type { LanePacing } from './lane-pacing.ts'
import { MessageContext } from './message-context.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'
import type { PlanCache } from './plan-cache.ts'
import type { Settling } from './settling.ts'
import type { ShardClocks } from './shard-clocks.ts'

/** What was in flight, or on its way here, when the lane was purged. */
const UNSUBSCRIBED = { op: 'discard', cause: 'unsubscribed' } as const
/** A claim that got no slot waits so long, lest the two of us go round in circles. */
const REFUSED_MS = 250

export interface LaneClaimsOptions {
  slots: AttemptSlots
  plans: Pick<PlanCache, 'slice'>
  bodies: Pick<LaneBodies, 'get'>
  attempts: Pick<LaneAttempts, 'begin' | 'bury'>
  pacing: Pick<LanePacing, 'unsent'>
  settling: Pick<Settling, 'settle'>
  recorder: Pick<OutcomeRecorder, 'expired' | 'ended'>
  clocks: ShardClocks
  log: Logger
  /** No slot is left. */
  onStarved(): void
}

interface LaneInHand {
  lane: ClaimedLane
  /** null where it is gone or cannot be read. */
  slice: CompiledSlice | null
  /** Of its claims and of those that follow. */
  messages: Iterator<MessageContext | Error | null>
  askedAt: number
}

export class LaneClaims {
  readonly #options: LaneClaimsOptions

  constructor(options: LaneClaimsOptions) {
    this.#options = options
  }

  /** Records what the script removed by itself and begins what it claimed. `askedAt`: by performance.now(). */
  async handOn(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    for (const { subscriptionId, delivery } of result.expired)
      this.#options.recorder.expired(subscriptionId, delivery)
    const deliveries = result.lanes.flatMap(deliveriesOf)
    if (deliveries.length === 0) return
    const lanes = [...result.lanes]
    try {
      // Each lane takes its own from it, in order.
      const messages = (await this.#options.bodies.get(shard, deliveries)).values()
      for (let lane = lanes[0]; lane; lane = lanes[0]) {
        const slice = await this.#sliceOf(shard, lane)
        lanes.shift()
        this.#handOnLane(shard, { lane, slice, messages, askedAt })
      }
    } catch (error) {
      // Their leases would hold them, and their groups, for as long as an attempt may take.
      for (const lane of lanes) this.#return(shard, lane)
      throw error
    }
  }

  #return(shard: number, { subscriptionId, claims }: ClaimedLane): void {
    for (const { delivery, lease } of claims) {
      const back = { op: 'return', delayMs: REFUSED_MS } as const
      void this.#options.settling.settle(shard, { subscriptionId, delivery, lease }, back)
    }
  }

  #handOnLane(shard: number, { lane, slice, messages, askedAt }: LaneInHand): void {
    const subscription = slice?.byId.get(lane.subscriptionId)
    const next = () => messages.next().value ?? null
    for (const claim of lane.claims) {
      const message = next()
      const run = claim.run?.map((delivery) => ({ delivery, message: next() }))
      const claimed = { subscriptionId: lane.subscriptionId, delivery: claim.delivery, lease: claim.lease }
      if (!(message instanceof MessageContext)) {
        const detail =
          message === null ? 'its body is missing' : `its body cannot be read: ${message.message}`
        this.#options.log.error({ shard, subscriptionId: lane.subscriptionId, detail }, 'delivery.set_aside')
        void this.#options.settling.settle(shard, claimed, { op: 'aside', detail })
        continue
      }
      if (!subscription) {
        // Deleted this moment, or its or its slice's record is unreadable: the lease is left to run out, so that nothing spins.
        this.#options.log.warn({ shard, subscriptionId: lane.subscriptionId }, 'claim.subscription_unknown')
        continue
      }
      const sendAt = claim.sendAt === null ? null : this.#options.clocks.of(shard).localTime(claim.sendAt)
      const hand = { subscription, claim, message, sendAt, checkedAt: askedAt }
      this.#begin(run ? { ...hand, run: runOf(message, run) } : hand)
    }
  }

  /** null where it is gone or cannot be read: the other lanes of the take go on all the same. */
  async #sliceOf(shard: number, { sliceId, sliceRevision }: ClaimedLane): Promise<CompiledSlice | null> {
    try {
      return await this.#options.plans.slice({ sliceId, shard }, sliceRevision)
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error
      this.#options.log.error({ shard, sliceId, err: error }, 'slice.unreadable')
      return null
    }
  }

  #begin(hand: ClaimInHand): void {
    const { subscription, claim, message } = hand
    if (claim.state?.kind === 'dead') {
      this.#options.attempts.bury(hand)
      return
    }
    if (!mayGo(subscription.record, message.message)) {
      void this.#discard(hand)
      return
    }
    const { id, maxInFlight } = subscription.record
    if (claim.sendAt !== null || this.#options.slots.acquire(id, maxInFlight)) {
      this.#options.attempts.begin(hand)
      return
    }
    if (this.#options.slots.free <= 0) this.#options.onStarved()
    const { pacing } = this.#options
    if (subscription.paced) pacing.unsent(subscription.shard, id, retryCost(claim.state))
    const back = { op: 'return', delayMs: REFUSED_MS } as const
    void this.#options.settling.settle(subscription.shard, claimedOf(hand), back)
  }

  async #discard(hand: ClaimInHand): Promise<void> {
    const { subscription, message, claim } = hand
    const claimed = claimedOf(hand)
    const { accepted } = await this.#options.settling.settle(subscription.shard, claimed, UNSUBSCRIBED)
    const state = claim.state ?? { attempts: 0, statusCode: null, error: null }
    if (accepted)
      this.#options.recorder.ended({ claimed, subscription, message }, 'discarded', UNSUBSCRIBED.cause, state)
  }
}

function deliveriesOf({ claims }: ClaimedLane): Buffer[] {
  return claims.flatMap(({ delivery, run }) => (run ? [delivery, ...run] : delivery))
}
