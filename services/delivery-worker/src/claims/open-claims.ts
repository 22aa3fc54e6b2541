/**
 * The claims that this worker has neither settled nor returned to their lanes. Which kind a claim is follows from its
 * lane, and says which fields it has:
 *
 *         ┌─▶ UnthrottledClaim: has a slot until its attempt ends
 * taken ──┼─▶ ThrottledClaim: waits for its send time, again for each further request (timed-claims.ts)
 *         ├─▶ BatchedClaim: waits in a batch, which has the slot (batches/)
 *         └─▶ none of them: was declared dead, is discarded, or goes back to its lane at once (lanes/taken-claims.ts)
 *
 * They are classes, because a worker makes thousands of them a second and all of a kind then have one shape in memory.
 */
import type { WaitCause } from '@fantail/contracts'
import type { FurtherRequest } from '@fantail/delivery'
import { retryCost } from '@fantail/policy'
import type { Claim, RetryState, Standing } from '@fantail/store'
import type { HeldBodies } from '../bodies/body-bytes.ts'
import type { ClaimEnd } from '../endings/lane-source.ts'
import type { Follower } from '../messages/followers.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { Claimed } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

/** A lane as its claims knew it when they were taken. */
export interface TakenLane {
  subscription: CompiledSubscription
  /** Whether the endpoint was proven. */
  proven: boolean
  /** The broken credential that blocks the lane. A claim may probe it. */
  blockedBy?: string | undefined
  /** When the subscription's settings were last known to be current, by performance.now(). */
  checkedAt: number
}

/** A claim with the bytes that its attempt holds. */
abstract class OpenClaim {
  readonly subscription: CompiledSubscription
  readonly delivery: Buffer
  /** Changes when it is renewed. */
  lease: string
  /** null: never attempted. */
  readonly retry: RetryState | null
  readonly context: MessageContext
  /** The bytes of its message and of its followers, as BodyBytes counts them. */
  readonly bodies: HeldBodies
  readonly blockedBy: string | undefined
  readonly checkedAt: number
  /** The reason for which it waited until it was claimed. */
  readonly waitedFor: WaitCause | undefined
  /** Whether the lane's record says that the endpoint is proven. */
  proven: boolean

  constructor(lane: TakenLane, claim: Claim, context: MessageContext, bodies: HeldBodies) {
    this.subscription = lane.subscription
    this.delivery = claim.delivery
    this.lease = claim.lease
    this.retry = claim.state?.kind === 'retry' ? claim.state : null
    this.context = context
    this.bodies = bodies
    this.blockedBy = lane.blockedBy
    this.checkedAt = lane.checkedAt
    this.waitedFor = waitCauseOf(lane, claim)
    this.proven = lane.proven
  }
}

/** A claim that is attempted at once. Its slot is taken before it is made. */
export class UnthrottledClaim extends OpenClaim {
  readonly kind = 'unthrottled'
  /** FIFO: the deliveries behind it that may be sent together with it. */
  readonly followers: Follower[] | undefined

  constructor(
    lane: TakenLane,
    claim: Claim,
    context: MessageContext,
    bodies: HeldBodies,
    followers?: Follower[],
  ) {
    super(lane, claim, context, bodies)
    this.followers = followers
  }
}

export class ThrottledClaim extends OpenClaim {
  readonly kind = 'throttled'
  /** FIFO: the deliveries behind it that may be sent together with it. */
  readonly followers: Follower[] | undefined
  /** Send time by Redis's clock. null: it needs a new one. */
  redisSendAt: number | null
  /** Send time by performance.now(). */
  sendAt = 0
  /** If not, it takes one at its send time. A request that misses its send time keeps its slot for the next one. */
  hasSlot = false
  /** The last of the earlier requests of the attempt, if there were any. */
  earlier: FurtherRequest | undefined = undefined
  /** Whether a request has missed its send time, because connecting to the endpoint took too long. */
  isSlowToConnect = false
  /** Rises with each renewal. Results for an earlier round are ignored. */
  round = 0
  isRenewing = false
  /** How often it was renewed because it was late. */
  renewals = 0
  /** The era of TimedClaims in which its send time was given out. */
  era = 0
  /** Set while it only waits for its send time. */
  timer: NodeJS.Timeout | undefined = undefined

  constructor(
    lane: TakenLane,
    claim: Claim,
    context: MessageContext,
    bodies: HeldBodies,
    followers?: Follower[],
  ) {
    super(lane, claim, context, bodies)
    this.followers = followers
    this.redisSendAt = claim.sendAt
  }
}

export class BatchedClaim extends OpenClaim {
  readonly kind = 'batched'
}

/** A claim that is attempted by itself, and not in a batch. */
export type SingleClaim = UnthrottledClaim | ThrottledClaim

export function claimedOf(
  { record }: CompiledSubscription,
  { delivery, lease }: { delivery: Buffer; lease: string },
): Claimed {
  return { subscriptionId: record.id, delivery, lease }
}

/**
 * The end of the claim's attempt, which was made by `current`. `standing`: the standing of the endpoint, if the lane
 * does not have it yet.
 */
export function endedBy(
  { subscription, delivery, lease, retry, context, waitedFor }: OpenClaim,
  current: CompiledSubscription,
  standing: Standing | undefined,
): ClaimEnd {
  return {
    claimed: { subscriptionId: subscription.record.id, delivery, lease, standing },
    subscription: current,
    context,
    delivery,
    attempts: (retry?.attempts ?? 0) + 1,
    path: 'lane',
    whyDue: retry?.why,
    waitedFor,
    retryCost: current.paced ? retryCost(retry) : undefined,
  }
}

function waitCauseOf({ proven }: TakenLane, { sendAt }: Claim): WaitCause | undefined {
  if (sendAt !== null) return 'throttle'
  return proven ? undefined : 'unprovenEndpoint'
}
