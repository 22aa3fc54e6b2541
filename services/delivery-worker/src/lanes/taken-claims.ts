/**
 * Handles the claims of a take or of the sweep. Each claim is attempted, dead-lettered, discarded, or returned to its
 * lane.
 */
import { retryCost } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import {
  type Claim,
  type ClaimedLane,
  isSealed,
  type NewEntry,
  parseDeliveryId,
  QUARANTINE_BASE,
  type Quarantined,
  SealKeyError,
  type ServerMarks,
  type TakeResult,
  UnreadableRecordError,
} from '@fantail/store'
import type { LaneBatches } from '../batches/lane-batches.ts'
import type { BodyBytes, HeldBodies } from '../bodies/body-bytes.ts'
import { type LaneBodies, type LaneBody, UnreadableBody } from '../bodies/lane-bodies.ts'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { BusyTargets } from '../capacity/busy-targets.ts'
import type { ClaimAttempts } from '../claims/claim-attempts.ts'
import {
  BatchedClaim,
  claimedOf,
  type TakenLane,
  ThrottledClaim,
  UnthrottledClaim,
} from '../claims/open-claims.ts'
import { type Follower, followersOf } from '../messages/followers.ts'
import { MessageContext } from '../messages/message-context.ts'
import { LOCKED_RETRY_MS, type MissingKeys } from '../reports/missing-keys.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { LanePacing } from '../settling/lane-pacing.ts'
import type { Claimed, Settling } from '../settling/settling.ts'
import { type CompiledSlice, type CompiledSubscription, mayGo } from '../topics/compiled-slice.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'

/** For deliveries that were in flight, or under way to this worker, when a link ended their subscription. */
const UNSUBSCRIBED = { op: 'discard', cause: 'unsubscribed' } as const
/** A claim that got no slot waits this long in its lane. Otherwise it would be claimed and returned again and again. */
const REFUSED_MS = 250
/** If a full quarantine refuses a delivery, it stays in its lane and is claimed again after this time. */
const FULL_QUARANTINE_CLAIM_MS = 60_000

export interface TakenClaimsOptions {
  slots: AttemptSlots
  bytes: BodyBytes
  targets: Pick<BusyTargets, 'waitOf' | 'begin'>
  snapshots: Pick<SnapshotCache, 'slice'>
  bodies: Pick<LaneBodies, 'get'>
  claimAttempts: Pick<ClaimAttempts, 'begin' | 'deadLetter'>
  batches: Pick<LaneBatches, 'takes' | 'add'>
  pacing: Pick<LanePacing, 'unsent'>
  settling: Pick<Settling, 'settle'>
  recorder: Pick<OutcomeRecorder, 'expired' | 'ended'>
  locked: Pick<MissingKeys, 'report'>
  servers: Pick<ServerMarks, 'mark'>
  /** Quarantines a delivery whose body is gone or cannot be decoded. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  log: Logger
  /** Called when due deliveries find no free slot. */
  onStarved(): void
}

/** The lanes of one take share this. */
interface Loaded {
  shard: number
  /** Messages of all claims, lane by lane. */
  messages: Iterator<LaneBody>
  askedAt: number
}

export class TakenClaims {
  readonly #options: TakenClaimsOptions

  constructor(options: TakenClaimsOptions) {
    this.#options = options
  }

  /** Records deliveries that the script has removed, and begins the claims. `askedAt`: by performance.now(). */
  async begin(shard: number, result: TakeResult, askedAt: number): Promise<void> {
    for (const { subscriptionId, delivery } of result.expired)
      this.#options.recorder.expired(subscriptionId, delivery)
    const deliveries = result.lanes.flatMap(deliveriesOf)
    if (deliveries.length === 0) return
    const left = new Set(result.lanes)
    const loading = this.#options.bytes.load()
    try {
      // Everything is read at once, because a round trip may take long.
      const reads = Promise.allSettled(result.lanes.map((lane) => this.#sliceOf(shard, lane)))
      const messages = (await this.#options.bodies.get(shard, deliveries, loading, result.bodies)).values()
      const loaded = { shard, messages, askedAt }
      const slices = await reads
      for (const [i, lane] of result.lanes.entries()) {
        const slice = slices[i]
        if (slice?.status === 'fulfilled') {
          left.delete(lane)
          this.#beginLane(lane, slice.value, loaded)
        } else {
          for (const _ of deliveriesOf(lane)) messages.next()
        }
      }
      for (const slice of slices) if (slice.status === 'rejected') throw slice.reason
    } catch (error) {
      // Returns the claims of the lanes that lack something. Their leases would block them, and their groups, for as
      // long as an attempt may take.
      for (const lane of left) this.#return(shard, lane)
      throw error
    } finally {
      loading.end()
    }
  }

  #return(shard: number, { subscriptionId, claims }: ClaimedLane): void {
    for (const { delivery, lease } of claims) {
      const back = { op: 'returnToLane', delayMs: REFUSED_MS } as const
      void this.#options.settling.settle(shard, { subscriptionId, delivery, lease }, back)
    }
  }

  /** `slice`: null if it is gone or cannot be read. */
  #beginLane(lane: ClaimedLane, slice: CompiledSlice | null, { shard, messages, askedAt }: Loaded): void {
    const subscription = slice?.byId.get(lane.subscriptionId)
    const { proven, blockedBy } = lane
    const taken = subscription && { subscription, proven, blockedBy, checkedAt: askedAt }
    const next = (): LaneBody => ownBody(messages.next().value, subscription)
    if (lane.proven) this.#options.slots.trust(lane.subscriptionId)
    for (const claim of lane.claims) {
      const context = next()
      const behind = claim.followers?.map((delivery) => ({ delivery, context: next() ?? null }))
      if (context === undefined) {
        this.#options.onStarved()
        if (subscription?.paced)
          this.#options.pacing.unsent(shard, lane.subscriptionId, retryCost(claim.state))
        this.#return(shard, { ...lane, claims: [claim] })
        continue
      }
      if (context instanceof SealKeyError) {
        if (subscription) this.#postpone(subscription, claim, context)
        else this.#return(shard, { ...lane, claims: [claim] })
        continue
      }
      if (!(context instanceof MessageContext)) {
        const { delivery, lease } = claim
        const claimed = { subscriptionId: lane.subscriptionId, delivery, lease }
        void this.#quarantine(shard, claimed, context, slice?.topic.arn)
        continue
      }
      if (!taken) {
        // The subscription was deleted a moment ago, or a record cannot be read. The lease is left to end, so that the
        // claim is not repeated at once.
        this.#options.log.warn({ shard, subscriptionId: lane.subscriptionId }, 'claim.subscription_unknown')
        continue
      }
      this.#begin(taken, claim, context, behind && followersOf(context, behind))
    }
  }

  /**
   * The key that opens the message is missing. The delivery waits, and retention still ends it. The lane goes on with
   * others, except those behind it in its group.
   */
  #postpone(subscription: CompiledSubscription, claim: Claim, error: SealKeyError): void {
    const { pacing, settling, locked } = this.#options
    const { shard, record, paced } = subscription
    locked.report(record.topicArn, error)
    if (paced) pacing.unsent(shard, record.id, retryCost(claim.state))
    const back = { op: 'awaitKey', delayMs: LOCKED_RETRY_MS } as const
    void settling.settle(shard, claimedOf(subscription, claim), back)
  }

  /**
   * Adds the entry first, then ends the claim, so a crash in between repeats both. The lease is checked before. If this
   * worker was frozen, another one may have delivered the message since. Then the body is gone, and nothing is lost.
   */
  async #quarantine(
    shard: number,
    claimed: Claimed,
    body: UnreadableBody | null,
    topicArn: string | undefined,
  ): Promise<void> {
    const { settling, quarantine, log } = this.#options
    if (!(await settling.settle(shard, claimed, { op: 'continueClaim' })).accepted) return
    let delayMs = FULL_QUARANTINE_CLAIM_MS
    const restsOn = this.#options.servers.mark(QUARANTINE_BASE)
    try {
      const result = await quarantine(deliveryEntry(claimed, body, topicArn))
      if (result !== 'full') {
        await settling.settle(shard, claimed, { op: 'quarantined' }, { restsOn })
        return
      }
    } catch (error) {
      log.debug({ shard, subscriptionId: claimed.subscriptionId, err: error }, 'quarantine.write_failed')
      delayMs = REFUSED_MS
    }
    await settling.settle(shard, claimed, { op: 'returnToLane', delayMs })
  }

  /** null: the slice is gone or cannot be read. The other lanes of the take continue. */
  async #sliceOf(shard: number, { sliceId, sliceRevision }: ClaimedLane): Promise<CompiledSlice | null> {
    try {
      return await this.#options.snapshots.slice({ sliceId, shard }, sliceRevision)
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
      this.#options.log.error({ shard, sliceId, err: error }, 'slice.unreadable')
      return null
    }
  }

  #begin(lane: TakenLane, claim: Claim, context: MessageContext, followers: Follower[] | undefined): void {
    const { subscription, proven } = lane
    const { state } = claim
    if (state?.kind === 'dead') {
      const claimed = claimedOf(subscription, claim)
      this.#options.claimAttempts.deadLetter({ claimed, subscription, context, state })
      return
    }
    if (!mayGo(subscription.record, context.message)) {
      void this.#discard(subscription, claim, context)
      return
    }
    const waitMs = this.#options.targets.waitOf(context)
    if (waitMs !== undefined) {
      const back = { op: 'returnToLane', delayMs: waitMs } as const
      void this.#options.settling.settle(subscription.shard, claimedOf(subscription, claim), back)
      return
    }
    const bodies = this.#options.bytes.tryHold(context, proven, followers)
    if (bodies && this.#options.batches.takes(subscription)) {
      this.#options.batches.add(new BatchedClaim(lane, claim, context, bodies))
      return
    }
    // A lane of an unproven endpoint takes its slot now. At the send time there might be no slot.
    const takesLater = claim.sendAt !== null && proven
    const { id, maxInFlight } = subscription.record
    if (bodies && (takesLater || this.#options.slots.acquire(id, maxInFlight))) {
      if (!takesLater) this.#options.targets.begin(context)
      this.#attempt(lane, claim, context, bodies, followers)
      return
    }
    bodies?.release()
    this.#refuse(subscription, claim)
  }

  #attempt(
    lane: TakenLane,
    claim: Claim,
    context: MessageContext,
    bodies: HeldBodies,
    followers: Follower[] | undefined,
  ): void {
    if (claim.sendAt === null) {
      this.#options.claimAttempts.begin(new UnthrottledClaim(lane, claim, context, bodies, followers))
      return
    }
    const throttled = new ThrottledClaim(lane, claim, context, bodies, followers)
    throttled.hasSlot = !lane.proven
    this.#options.claimAttempts.begin(throttled)
  }

  /** Returns a claim for which there is no slot or no capacity for its bytes. */
  #refuse(subscription: CompiledSubscription, claim: Claim): void {
    const { slots, bytes, pacing, settling } = this.#options
    if (slots.freeProven <= 0 || !bytes.hasCapacity(true)) this.#options.onStarved()
    const { shard, record, paced } = subscription
    if (paced) pacing.unsent(shard, record.id, retryCost(claim.state))
    const back = { op: 'returnToLane', delayMs: REFUSED_MS } as const
    void settling.settle(shard, claimedOf(subscription, claim), back)
  }

  async #discard(subscription: CompiledSubscription, claim: Claim, context: MessageContext): Promise<void> {
    const claimed = claimedOf(subscription, claim)
    const { accepted } = await this.#options.settling.settle(subscription.shard, claimed, UNSUBSCRIBED)
    const state = claim.state ?? { attempts: 0, statusCode: null, error: null }
    if (accepted)
      this.#options.recorder.ended({ claimed, subscription, context }, 'discarded', UNSUBSCRIBED.cause, state)
  }
}

function deliveryEntry(
  { subscriptionId, delivery }: Claimed,
  body: UnreadableBody | null,
  topicArn: string | undefined,
): NewEntry {
  const { messageId, generation } = parseDeliveryId(delivery)
  const entry = {
    id: `delivery.${messageId}.${generation}.${subscriptionId}`,
    messageId,
    topicArn,
    subscriptionId,
  }
  if (body === null) return { ...entry, reason: 'bodyMissing', detail: 'its body is missing', raw: '' }
  const detail = `its body cannot be decoded: ${body.message}`
  return { ...entry, reason: 'bodyUnreadable', detail, raw: body.raw }
}

/** A sealed message of another topic is unreadable. Somebody who can write to Redis has put it into the lane. */
function ownBody(body: LaneBody, subscription: CompiledSubscription | undefined): LaneBody {
  if (!(body instanceof MessageContext) || !subscription) return body
  const { message } = body
  if (message.topicArn === subscription.record.topicArn || !isSealed(message)) return body
  return new UnreadableBody(Buffer.from(body.body), new TypeError('it is a message of another topic'))
}

function deliveriesOf({ claims }: ClaimedLane): Buffer[] {
  return claims.flatMap(({ delivery, followers }) => (followers ? [delivery, ...followers] : delivery))
}
