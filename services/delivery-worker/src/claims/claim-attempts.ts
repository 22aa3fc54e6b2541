/**
 * Handles claims. A claim is attempted at its send time and then settled. If it is declared dead, it is dead-lettered
 * instead. If it cannot be sent, it returns to its lane.
 *
 * A claim without a send time already has its slot. A throttled claim takes its slot only at its send time
 * (timed-claims.ts), so a waiting claim uses none. In a throttled attempt every request has its own send time and slot,
 * even a request after a reset or a challenge. All of them together count as one attempt. If a request misses its send
 * time while the connection is being opened, it keeps its slot for the next send time.
 */
import type { AttemptResult } from '@fantail/contracts'
import { Deadlines, type EnvelopeSigning, type FurtherRequest } from '@fantail/delivery'
import { retryCost } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import { SEND_LATE_MS_MAX, type SettleTo, type Standing } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { AttemptMaker, AttemptOptions } from '../attempts/attempt-maker.ts'
import { type Outcome, outcomeOf, SIGNING_CREDENTIAL, unsignedResult } from '../attempts/attempt-outcome.ts'
import type { CredentialGate, CredentialWait } from '../attempts/credential-gate.ts'
import { type AttemptSlots, HUNG_MS } from '../capacity/attempt-slots.ts'
import type { BusyTargets } from '../capacity/busy-targets.ts'
import type { CapacityAnnouncer } from '../capacity/freed-capacity.ts'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import type { DeadDelivery } from '../dead-letters/letter-appends.ts'
import type { Endings } from '../endings/endings.ts'
import type { LaneSource } from '../endings/lane-source.ts'
import type { LanePacing } from '../settling/lane-pacing.ts'
import type { Settling } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { currentOf } from '../topics/current-subscription.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { ClaimRequest, type RequestCallbacks } from './claim-request.ts'
import { claimedOf, endedBy, type SingleClaim, type ThrottledClaim } from './open-claims.ts'
import type { Renewals } from './renewals.ts'
import { TimedClaims } from './timed-claims.ts'

/** How long a delivery waits in its lane if it cannot be signed now. */
const UNSIGNED_MS = 1_000
/**
 * How often a delivery may return to its lane without a counted attempt, because its next request got no send time or
 * slot. Past it: the attempt counts.
 */
const UNCOUNTED_MAX = 5
/** Deliveries for which a worker remembers this number. Past it: the least recently used one is forgotten. */
const UNCOUNTED_REMEMBERED_MAX = 10_000

interface ClaimAttemptsOptions {
  attemptMaker: AttemptMaker
  endings: Endings
  laneSource: LaneSource
  deadLetters: Pick<DeadLetters, 'resume'>
  signing: Pick<EnvelopeSigning, 'prepare'>
  settling: Settling
  pacing: Pick<LanePacing, 'unsent'>
  credentials: Pick<CredentialGate, 'admit' | 'ended' | 'worked'>
  slots: AttemptSlots
  targets: Pick<BusyTargets, 'end'>
  freed: CapacityAnnouncer
  snapshots: SnapshotCache
  renewals: Pick<Renewals, 'renew'>
  clocks: ShardClocks
  /** Whether Redis can be reached. */
  isConnected(): boolean
  log: Logger
}

export class ClaimAttempts {
  readonly #options: ClaimAttemptsOptions
  readonly #timedClaims: TimedClaims
  readonly #uncounted = new LRUCache<string, number>({ max: UNCOUNTED_REMEMBERED_MAX })
  /** Requests without an answer, until they hang. */
  readonly #waiting = new Deadlines<ClaimRequest>(HUNG_MS)
  readonly #callbacks: RequestCallbacks = {
    hung: (request) => this.#waitForRedis(request),
    ended: (request, outcome) => {
      this.#release(request, outcome.answeredAfterMs)
      this.#finish(request.claim, request.subscription, outcome)
    },
    again: (request, claim, next) => {
      this.#release(request, next.cause === 'challenge' ? next.durationMs : undefined)
      claim.earlier = next
      this.#timedClaims.addAgain(claim)
    },
    missed: (request, claim, dialMs) => this.#missed(request, claim, dialMs),
    isInTime: (claim) => this.#timedClaims.isInTime(claim),
  }
  #open = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: ClaimAttemptsOptions) {
    this.#options = options
    this.#timedClaims = new TimedClaims({
      ...options,
      onTime: (claim) => void this.#send(claim),
      onNone: (claim) => this.#endUnsent(claim),
    })
  }

  /** Number of claims that are neither settled nor returned to their lanes. */
  get open(): number {
    return this.#open
  }

  begin(claim: SingleClaim): void {
    this.#open++
    if (claim.kind === 'unthrottled') {
      void this.#send(claim)
      return
    }
    const { subscription } = claim
    // The message is signed while the claim waits, so that the request is not late.
    if (subscription.signature !== undefined) void this.#sign(claim)
    this.#options.attemptMaker.openAhead(subscription)
    this.#options.snapshots.expectClaim(subscription)
    this.#timedClaims.add(claim)
  }

  /** Called when Redis can be reached again. */
  reconnected(): void {
    this.#timedClaims.reconnected()
  }

  /** Called when Redis's clock was set forward. */
  setForward(): void {
    this.#timedClaims.setForward()
  }

  /** Called when time travel has moved the time. */
  moved(): void {
    this.#timedClaims.moved()
  }

  /** Send times of the claims that only wait for theirs, by Redis's clock. */
  get sendTimes(): number[] {
    return this.#timedClaims.sendTimes
  }

  /** Dead-letters a delivery that was declared dead before it was claimed. This needs no slot. */
  deadLetter(dead: DeadDelivery): void {
    this.#open++
    void this.#options.deadLetters.resume(dead).finally(() => this.#closed())
  }

  /** Returns unsent claims to their lanes. Resolves when all other claims are settled. */
  async stop(): Promise<void> {
    this.#closing = true
    this.#timedClaims.stop()
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** The send time of a throttled claim may change before the request is written. */
  async #send(claim: SingleClaim): Promise<void> {
    const throttled = claim.kind === 'throttled' ? claim : undefined
    const round = throttled?.round
    const unsigned = claim.subscription.signature === undefined ? undefined : await this.#sign(claim)
    const known = unsigned ? undefined : currentOf(claim, this.#options)
    const current = known instanceof Promise ? await known : known
    if (throttled && throttled.round !== round) return
    if (!current || this.#closing) {
      if (throttled) this.#timedClaims.leave(throttled)
      if (unsigned) this.#endUnsigned(claim, unsigned)
      else this.#returnToLane(claim)
      return
    }
    if (throttled) {
      if (!this.#timedClaims.start(throttled)) return
      const { id, maxInFlight } = current.record
      throttled.hasSlot ||= this.#options.slots.acquire(id, maxInFlight)
      if (!throttled.hasSlot) return this.#endUnsent(throttled)
    }
    const asked = this.#options.credentials.admit(current, claim.blockedBy)
    const wait = asked && (await asked)
    if (wait) this.#block(claim, wait)
    else this.#attempt(claim, current)
  }

  /** Returns the claim, because its credential is broken and this claim is not the probe. Its lane is blocked. */
  #block(claim: SingleClaim, { credential, waitMs: delayMs }: CredentialWait): void {
    this.#returnToLane(claim, { op: 'block', delayMs, credential })
  }

  #attempt(claim: SingleClaim, current: CompiledSubscription): void {
    const { context, delivery, followers } = claim
    const request = new ClaimRequest(claim, current, this.#callbacks)
    this.#waiting.add(request, performance.now())
    const options: AttemptOptions =
      claim.kind === 'throttled'
        ? {
            followers,
            earlier: claim.earlier,
            again: (next: FurtherRequest) => request.again(next),
            moment: request,
          }
        : { followers }
    this.#options.attemptMaker.attempt(current, context, delivery, request.ended, options)
  }

  /** Releases the slot of a request that has ended. */
  #release(request: ClaimRequest, answeredAfterMs: number | undefined): void {
    this.#endWait(request)
    this.#releaseSlot(request.claim, answeredAfterMs, request.subscription.record)
  }

  #endWait(request: ClaimRequest): void {
    request.hasEnded = true
    if (request.isListed) this.#waiting.remove(request)
  }

  #missed(request: ClaimRequest, claim: ThrottledClaim, dialMs: number): void {
    this.#endWait(request)
    if (dialMs > SEND_LATE_MS_MAX) {
      claim.isSlowToConnect = true
      // Opens one connection more than there are claims, so that the next claim has one ready.
      this.#options.attemptMaker.openAhead(claim.subscription)
    }
    this.#timedClaims.missed(claim)
  }

  #finish(claim: SingleClaim, subscription: CompiledSubscription, outcome: Outcome): void {
    const { endings, laneSource } = this.#options
    const end = endedBy(claim, subscription, this.#standingOf(claim))
    if (claim.followers) end.followers = claim.followers.slice(0, outcome.followersSent)
    void Promise.resolve(endings.end(laneSource, end, outcome)).then(() => this.#closed(claim))
  }

  /**
   * Ends a claim that got no send time or no slot. If it has made a request, or was late because of a slow connection,
   * no attempt is counted. This happens at most UNCOUNTED_MAX times. Without a limit the delivery would be tried for
   * ever.
   */
  #endUnsent(claim: ThrottledClaim): void {
    const { earlier, isSlowToConnect, delivery, subscription } = claim
    if (earlier || isSlowToConnect) {
      const name = `${subscription.record.id} ${delivery.toString('hex')}`
      const times = (this.#uncounted.get(name) ?? 0) + 1
      this.#uncounted.set(name, times)
      if (times > UNCOUNTED_MAX) {
        const outcome = { result: countedAs(earlier), followersSent: 0, answeredAfterMs: undefined }
        if (claim.hasSlot) this.#releaseSlot(claim)
        this.#finish(claim, subscription, outcome)
        return
      }
    }
    this.#returnToLane(claim)
  }

  /**
   * Signs the message. Resolves with the result of the attempt if it cannot be signed. While a key is being loaded, the
   * claim keeps its slot, so the number of tries stays limited.
   */
  async #sign({ subscription, context, blockedBy }: SingleClaim): Promise<AttemptResult | undefined> {
    const { signature, target } = subscription
    try {
      await this.#options.signing.prepare(context.envelopeFor(signature), target)
      if (blockedBy === SIGNING_CREDENTIAL) this.#options.credentials.worked(SIGNING_CREDENTIAL)
      return undefined
    } catch (error) {
      return unsignedResult(error)
    }
  }

  /** Only an operator can repair a key that cannot be used. Its lanes are blocked meanwhile. */
  #endUnsigned(claim: SingleClaim, result: AttemptResult): void {
    if (result.kind !== 'misconfigured' || this.#closing) {
      this.#returnToLane(claim, { op: 'returnToLane', delayMs: UNSIGNED_MS })
      return
    }
    if (claim.kind === 'unthrottled' || claim.hasSlot) this.#releaseSlot(claim)
    this.#options.credentials.ended(claim.subscription, result)
    this.#finish(claim, claim.subscription, outcomeOf(result))
  }

  /** The time in which an attempt waits for Redis does not count against its endpoint. */
  #waitForRedis(request: ClaimRequest): void {
    const redisMs = this.#options.slots.redisMs(request.subscription.record)
    if (redisMs === 0) this.#hang(request.claim)
    else setTimeout(() => request.hasEnded || this.#hang(request.claim), redisMs)
  }

  /**
   * Called when the attempt hangs. It now counts against the half of the slots for unproven endpoints, so a slot of the
   * other half may be free. The lane is notified at once.
   */
  #hang(claim: SingleClaim): void {
    const { record, shard } = claim.subscription
    this.#options.slots.hang(record.id)
    claim.bodies.hang()
    if (claim.proven) {
      claim.proven = false
      const claimed = { ...claimedOf(claim.subscription, claim), standing: 'unproven' } as const
      void this.#options.settling.settle(shard, claimed, { op: 'continueClaim' })
    }
    this.#options.freed.announce()
  }

  /** The endpoint's standing to write to its lane. */
  #standingOf({ subscription, proven }: SingleClaim): Standing | undefined {
    const isProven = this.#options.slots.isProven(subscription.record.id)
    if (isProven === proven) return undefined
    return isProven ? 'proven' : 'unproven'
  }

  /** Returns the claim to its lane. No attempt was made. */
  #returnToLane(claim: SingleClaim, to: SettleTo = { op: 'returnToLane' }): void {
    if (claim.kind === 'unthrottled' || claim.hasSlot) this.#releaseSlot(claim)
    const { settling, pacing } = this.#options
    const { subscription, retry } = claim
    const { paced, record, shard } = subscription
    if (paced) pacing.unsent(shard, record.id, retryCost(retry))
    void settling.settle(shard, claimedOf(subscription, claim), to).then(() => this.#closed(claim))
  }

  #releaseSlot(claim: SingleClaim, answeredAfterMs?: number, record = claim.subscription.record): void {
    if (claim.kind === 'throttled') claim.hasSlot = false
    this.#options.targets.end(claim.context)
    const { slots } = this.#options
    slots.release(record.id, record.maxInFlight, answeredAfterMs, slots.redisMs(record))
    this.#options.freed.announce()
  }

  #closed(claim?: SingleClaim): void {
    claim?.bodies.release()
    this.#open--
    if (this.#closing && this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

/** `earlier`: undefined if no request was made. */
function countedAs(earlier: FurtherRequest | undefined): AttemptResult {
  const error = earlier?.cause === 'reset' ? 'connection_reset' : 'connection_failed'
  const what = earlier?.cause ?? 'slow to connect'
  const detail = `${what}, and too often no send time or slot for the next one`
  const durationMs = earlier?.durationMs ?? 0
  return { kind: 'failure', error, detail, durationMs, permanent: false }
}
