/**
 * Handles claims. A claim is attempted at its send time and then settled. If it is marked dead, it is dead-lettered
 * instead. If it cannot be sent, it returns to its lane.
 *
 * A claim without a send time already has its slot. A throttled claim takes its slot only at its send time
 * (timed-claims.ts), so a waiting claim uses none. In a throttled attempt every request has its own send time and slot,
 * even a request after a reset or a challenge. All of them together count as one attempt. If a request misses its send
 * time while the connection is being opened, it keeps its slot for the next send time.
 */
import type { AttemptResult, WaitCause } from '@fantail/contracts'
import { type Again, Deadlines, type EnvelopeSigning } from '@fantail/delivery'
import { retryCost, SEND_LATE_MS_MAX } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { SettleTo, Standing } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { AttemptMaker } from '../attempts/attempt-maker.ts'
import type { Outcome } from '../attempts/attempt-outcome.ts'
import { type AttemptSlots, HUNG_MS } from '../attempts/attempt-slots.ts'
import type { CredentialGate, CredentialWait } from '../attempts/credential-gate.ts'
import type { CapacityAnnouncer } from '../attempts/freed-capacity.ts'
import type { TargetLocks } from '../attempts/target-locks.ts'
import type { ShardClocks } from '../clocks/shard-clocks.ts'
import type { DeadLetters } from '../endings/dead-letters.ts'
import type { Endings } from '../endings/endings.ts'
import type { LanePlace } from '../endings/lane-place.ts'
import type { LanePacing } from '../settling/lane-pacing.ts'
import type { Settling } from '../settling/settling.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'
import { currentOf } from '../topics/current-subscription.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { type ClaimInHand, claimedOf, endedBy } from './claim-in-hand.ts'
import { LaneRequest, type RequestCallbacks } from './lane-request.ts'
import type { Renewals } from './renewals.ts'
import { type TimedClaim, TimedClaims } from './timed-claims.ts'

/** How long a delivery waits in its lane if it cannot be signed now. */
const UNSIGNED_MS = 1_000
/**
 * How often a delivery may return to its lane without a counted attempt, because its next request got no send time or
 * slot. Past it: the attempt counts.
 */
const UNCHARGED_MAX = 5
/** Deliveries for which a worker remembers this number. Past it: the least recently used one is forgotten. */
const UNCHARGED_REMEMBERED_MAX = 10_000

interface LaneAttemptsOptions {
  attempts: AttemptMaker
  endings: Endings
  lanePlace: LanePlace
  deadLetters: Pick<DeadLetters, 'goOn'>
  signing: Pick<EnvelopeSigning, 'prepare'>
  settling: Settling
  pacing: Pick<LanePacing, 'unsent'>
  credentials: Pick<CredentialGate, 'admit'>
  slots: AttemptSlots
  targets: Pick<TargetLocks, 'end'>
  freed: CapacityAnnouncer
  snapshots: SnapshotCache
  renewals: Pick<Renewals, 'renew'>
  clocks: ShardClocks
  /** Whether Redis can be reached. */
  isConnected(): boolean
  log: Logger
}

export class LaneAttempts {
  readonly #options: LaneAttemptsOptions
  readonly #timedClaims: TimedClaims
  readonly #uncharged = new LRUCache<string, number>({ max: UNCHARGED_REMEMBERED_MAX })
  /** Requests without an answer, until they hang. */
  readonly #waiting = new Deadlines<LaneRequest>(HUNG_MS)
  readonly #callbacks: RequestCallbacks = {
    hung: ({ hand }) => this.#hang(hand),
    ended: (request, outcome) => {
      this.#release(request, outcome.answeredAfterMs)
      this.#finish(request.hand, request.subscription, outcome)
    },
    again: (request, next) => {
      this.#release(request, next.cause === 'challenge' ? next.durationMs : undefined)
      this.#timedClaims.addAgain(Object.assign(request.hand, { after: next }))
    },
    missed: (request, timed, dialMs) => this.#missed(request, timed, dialMs),
    isInTime: (timed) => this.#timedClaims.isInTime(timed),
  }
  #open = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: LaneAttemptsOptions) {
    this.#options = options
    this.#timedClaims = new TimedClaims({
      ...options,
      onTime: (timed) => void this.#send(timed.hand, timed),
      onNone: (hand) => this.#endUnsent(hand),
    })
  }

  /** Number of claims that are neither settled nor returned to their lanes. */
  get open(): number {
    return this.#open
  }

  /** Takes over a claim. A claim without a send time already has its slot. */
  begin(hand: ClaimInHand): void {
    this.#open++
    hand.heldBy = heldBy(hand)
    if (hand.sendAt === null) {
      void this.#send(hand)
      return
    }
    // The message is signed while the claim waits, so that the request is not late.
    if (hand.subscription.signature !== undefined) void this.#sign(hand)
    this.#options.attempts.openAhead(hand.subscription)
    this.#options.snapshots.expectClaim(hand.subscription)
    this.#timedClaims.add(hand)
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

  /** Dead-letters a claim that is marked dead. This needs no slot. */
  deadLetter(hand: ClaimInHand): void {
    const { claim, subscription, message } = hand
    if (claim.state?.kind !== 'dead') return
    this.#open++
    const dead = { claimed: claimedOf(hand), subscription, message, state: claim.state }
    void this.#options.deadLetters.goOn(dead).finally(() => this.#closed(hand))
  }

  /** Returns unsent claims to their lanes. Resolves when all other claims are settled. */
  async stop(): Promise<void> {
    this.#closing = true
    this.#timedClaims.stop()
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** `timed`: the send time of a throttled claim. It may change before the request is written. */
  async #send(hand: ClaimInHand, timed?: TimedClaim): Promise<void> {
    const round = timed?.round
    const signed = hand.subscription.signature === undefined || (await this.#sign(hand))
    const known = signed ? currentOf(hand, this.#options) : undefined
    const current = known instanceof Promise ? await known : known
    if (timed && timed.round !== round) return
    if (!current || this.#closing) {
      if (timed) this.#timedClaims.leave(timed)
      this.#handBack(hand, signed ? 0 : UNSIGNED_MS)
      return
    }
    if (timed && !this.#timedClaims.start(timed)) return
    const { id, maxInFlight } = current.record
    hand.hasSlot ||= this.#options.slots.acquire(id, maxInFlight)
    if (!hand.hasSlot) return this.#endUnsent(hand)
    const asked = this.#options.credentials.admit(current, hand.blockedBy)
    const wait = asked && (await asked)
    if (wait) this.#block(hand, wait)
    else this.#attempt(hand, current, timed)
  }

  /** Returns the claim, because its credential is broken and this claim is not the probe. Its lane is blocked. */
  #block(hand: ClaimInHand, { credential, waitMs: delayMs }: CredentialWait): void {
    this.#giveBack(hand, { op: 'block', delayMs, credential })
  }

  #attempt(hand: ClaimInHand, current: CompiledSubscription, timed: TimedClaim | undefined): void {
    const { claim, message, run, after } = hand
    const request = new LaneRequest(hand, current, timed, this.#callbacks)
    this.#waiting.add(request, performance.now())
    const again = timed && ((next: Again) => request.again(next))
    const ways = again ? { run, after, again, moment: request } : { run }
    this.#options.attempts.attempt(current, message, claim.delivery, request.ended, ways)
  }

  /** Releases the slot of a request that has ended. */
  #release(request: LaneRequest, answeredAfterMs: number | undefined): void {
    this.#endWait(request)
    this.#releaseSlot(request.hand, answeredAfterMs, request.subscription.record.maxInFlight)
  }

  #endWait(request: LaneRequest): void {
    if (!request.isHung) this.#waiting.remove(request)
  }

  #missed(request: LaneRequest, timed: TimedClaim, dialMs: number): void {
    this.#endWait(request)
    const { hand } = request
    if (dialMs > SEND_LATE_MS_MAX) {
      hand.slowToConnect = true
      // Opens one connection more than there are claims, so that the next claim has one ready.
      this.#options.attempts.openAhead(hand.subscription)
    }
    this.#timedClaims.missed(timed)
  }

  #finish(hand: ClaimInHand, subscription: CompiledSubscription, outcome: Outcome): void {
    const { endings, lanePlace } = this.#options
    const end = endedBy(hand, subscription, this.#standingOf(hand))
    if (hand.run) end.run = hand.run.slice(0, outcome.along)
    void Promise.resolve(endings.end(lanePlace, end, outcome)).then(() => this.#closed(hand))
  }

  /**
   * Ends a claim that got no send time or no slot. If it has made a request, or was late because of a slow connection,
   * no attempt is counted. This happens at most UNCHARGED_MAX times. Without a limit the delivery would be tried for
   * ever.
   */
  #endUnsent(hand: ClaimInHand): void {
    const { after, slowToConnect, claim, subscription } = hand
    if (after || slowToConnect) {
      const name = `${subscription.record.id} ${claim.delivery.toString('hex')}`
      const times = (this.#uncharged.get(name) ?? 0) + 1
      this.#uncharged.set(name, times)
      if (times > UNCHARGED_MAX) {
        const outcome = { result: chargedAs(after), along: 0, answeredAfterMs: undefined }
        if (hand.hasSlot) this.#releaseSlot(hand)
        this.#finish(hand, subscription, outcome)
        return
      }
    }
    this.#handBack(hand)
  }

  /**
   * Signs the message. Returns false if no key can be loaded. While a key is being loaded, the claim keeps its slot, so
   * the number of tries stays limited.
   */
  async #sign({ subscription, message }: ClaimInHand): Promise<boolean> {
    const { signature, target } = subscription
    try {
      await this.#options.signing.prepare(message.envelopeFor(signature), target)
      return true
    } catch {
      return false
    }
  }

  /**
   * Called when the attempt hangs. It now counts against the half of the slots for unproven endpoints, so a slot of the
   * other half may be free. The lane is notified at once.
   */
  #hang(hand: ClaimInHand): void {
    const { record, shard } = hand.subscription
    this.#options.slots.hang(record.id)
    hand.held?.hang()
    if (hand.proven) {
      hand.proven = false
      const claimed = { ...claimedOf(hand), standing: 'unproven' } as const
      void this.#options.settling.settle(shard, claimed, { op: 'continueClaim' })
    }
    this.#options.freed.announce()
  }

  /** The endpoint's standing to write to its lane. */
  #standingOf({ subscription, proven }: ClaimInHand): Standing | undefined {
    const isProven = this.#options.slots.isProven(subscription.record.id)
    if (isProven === proven) return undefined
    return isProven ? 'proven' : 'unproven'
  }

  #handBack(hand: ClaimInHand, delayMs = 0): void {
    this.#giveBack(hand, delayMs === 0 ? { op: 'returnUnsent' } : { op: 'returnUnsent', delayMs })
  }

  /** Returns the claim to its lane. No attempt was made. */
  #giveBack(hand: ClaimInHand, to: SettleTo): void {
    if (hand.hasSlot) this.#releaseSlot(hand)
    const { settling, pacing } = this.#options
    const { paced, record, shard } = hand.subscription
    if (paced) pacing.unsent(shard, record.id, retryCost(hand.claim.state))
    void settling.settle(shard, claimedOf(hand), to).then(() => this.#closed(hand))
  }

  #releaseSlot(
    hand: ClaimInHand,
    answeredAfterMs?: number,
    maxInFlight = hand.subscription.record.maxInFlight,
  ): void {
    hand.hasSlot = false
    this.#options.targets.end(hand.message)
    this.#options.slots.release(hand.subscription.record.id, maxInFlight, answeredAfterMs)
    this.#options.freed.announce()
  }

  #closed(hand: ClaimInHand): void {
    hand.held?.release()
    this.#open--
    if (this.#closing && this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function heldBy({ sendAt, proven }: ClaimInHand): WaitCause | undefined {
  if (sendAt !== null) return 'throttle'
  return proven ? undefined : 'unprovenEndpoint'
}

/** `after`: undefined if no request was made. */
function chargedAs(after: Again | undefined): AttemptResult {
  const error = after?.cause === 'reset' ? 'connection_reset' : 'connection_failed'
  const what = after?.cause ?? 'slow to connect'
  const detail = `${what}, and too often no send time or slot for the next one`
  const durationMs = after?.durationMs ?? 0
  return { kind: 'failure', error, detail, durationMs, permanent: false }
}
