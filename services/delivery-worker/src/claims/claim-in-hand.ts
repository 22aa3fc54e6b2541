import type { WaitCause } from '@fantail/contracts'
import type { Again } from '@fantail/delivery'
import { retryCost } from '@fantail/policy'
import type { Claim, Standing } from '@fantail/store'
import type { HeldBodies } from '../attempts/body-bytes.ts'
import type { ClaimEnd } from '../endings/lane-place.ts'
import type { Claimed } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import type { InRun } from '../topics/group-run.ts'
import type { MessageContext } from '../topics/message-context.ts'

/** A claim that is neither settled nor returned to its lane, with the data that its attempt needs. */
export interface ClaimInHand {
  subscription: CompiledSubscription
  claim: Claim
  message: MessageContext
  /** FIFO: the deliveries behind it that may be sent together with it. */
  run?: InRun[]
  /** In a throttled lane: the earlier requests of the attempt, if there were any. */
  after?: Again
  /** In a throttled lane: a request has missed its send time, because connecting to the endpoint took too long. */
  slowToConnect?: true
  /** Send time, by performance.now(). null: at once. */
  sendAt: number | null
  /** Whether the endpoint was proven, according to its lane, when the delivery was claimed. */
  proven: boolean
  /** The broken credential that blocks its lane. This claim may probe it. */
  blockedBy?: string | undefined
  /** Why it waited until it was claimed. Set when its attempt begins. */
  heldBy?: WaitCause | undefined
  /** The bytes of its message and of the messages of its run, as BodyBytes counts them. */
  held?: HeldBodies
  /** Whether it has a slot (AttemptSlots). If not, it takes one at its send time. */
  hasSlot: boolean
  /** When the subscription's settings were last known to be current, by performance.now(). */
  checkedAt: number
}

export function claimedOf({ subscription, claim }: ClaimInHand): Claimed {
  return { subscriptionId: subscription.record.id, delivery: claim.delivery, lease: claim.lease }
}

/** The end of the claim's attempt. `standing`: the standing of the endpoint, if the lane does not have it yet. */
export function endedBy(
  hand: ClaimInHand,
  subscription: CompiledSubscription,
  standing: Standing | undefined,
): ClaimEnd {
  const { state, delivery, lease } = hand.claim
  return {
    claimed: { subscriptionId: hand.subscription.record.id, delivery, lease, standing },
    subscription,
    message: hand.message,
    delivery,
    attempts: (state?.attempts ?? 0) + 1,
    path: 'lane',
    decided: state?.kind === 'retry' ? state.why : undefined,
    heldBy: hand.heldBy,
    retryCost: subscription.paced ? retryCost(state) : undefined,
  }
}
