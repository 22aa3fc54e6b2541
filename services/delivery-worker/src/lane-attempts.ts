/**
 * What becomes of one claim: attempted at its time and settled, buried where it is marked dead, or handed back unsent.
 *
 * A claim that is sent at once has its slot already, so that it never waits for one; a throttled claim takes its slot at
 * its send time, so that what is only planned fills nothing. A throttled claim has a send time; a worker that misses it by more than LATE_MS hands the claim back, because a late send would crowd those
 * after it (r × lateness must stay within the 10 % that invariant 4 allows in a second).
 */
import type { EnvelopeSigning } from '@fantail/delivery'
import { retryCost, SEND_LATE_MS_MAX } from '@fantail/policy'
import type { Logger } from '@fantail/runtime'
import type { Claim } from '@fantail/store'
import type { AttemptMaker } from './attempt-maker.ts'
import { type AttemptSlots, HUNG_MS } from './attempt-slots.ts'
import { type CompiledSubscription, mayGo } from './compiled-slice.ts'
import type { InRun } from './fifo/group-run.ts'
import type { Finishing } from './finishing.ts'
import type { LanePacing } from './lane-pacing.ts'
import type { MessageContext } from './message-context.ts'
import type { Outcome } from './outcome.ts'
import type { PlanCache } from './plan-cache.ts'
import type { Claimed, Settling } from './settling.ts'

/** A little less than the throttle's bound allows: the request has still to be written. */
const LATE_MS = SEND_LATE_MS_MAX - 10
const PLAN_AGE_MS_MAX = 80
/** What cannot be signed now waits so long in its lane. */
const UNSIGNED_MS = 1_000

export interface LaneAttemptsOptions {
  attempts: AttemptMaker
  finishing: Finishing
  signing: Pick<EnvelopeSigning, 'prepare'>
  settling: Settling
  pacing: Pick<LanePacing, 'unsent'>
  slots: AttemptSlots
  plans: PlanCache
  log: Logger
}

export interface ClaimInHand {
  subscription: CompiledSubscription
  claim: Claim
  message: MessageContext
  /** FIFO: what may go with it. */
  run?: InRun[]
  /** When to send, by performance.now(); null: at once. */
  sendAt: number | null
  /** When the subscription's settings were last known to be current (performance.now()). */
  checkedAt: number
}

export class LaneAttempts {
  /** Called when a slot came free. */
  onRoom: () => void = () => undefined
  readonly #options: LaneAttemptsOptions
  readonly #timers = new Map<NodeJS.Timeout, ClaimInHand>()
  #open = 0
  #closing = false
  #idle: (() => void)[] = []

  constructor(options: LaneAttemptsOptions) {
    this.#options = options
  }

  /** Claims that are neither settled nor handed back yet. */
  get open(): number {
    return this.#open
  }

  /** Takes over a claim; its slot is taken already where it has no send time. */
  begin(hand: ClaimInHand): void {
    this.#open++
    const waitMs = hand.sendAt === null ? 0 : hand.sendAt - performance.now()
    if (waitMs <= 1) {
      void this.#send(hand)
      return
    }
    // Meanwhile, so that it is not late for that.
    if (hand.subscription.signature !== undefined) void this.#sign(hand)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      void this.#send(hand)
    }, waitMs)
    this.#timers.set(timer, hand)
  }

  /** Appends to its dead-letter queue what was claimed marked dead; needs no slot. */
  bury(hand: ClaimInHand): void {
    const { claim, subscription, message } = hand
    if (claim.state?.kind !== 'dead') return
    this.#open++
    const dead = { claimed: claimedOf(hand), subscription, message, state: claim.state }
    void this.#options.finishing.bury(dead).finally(() => this.#closed())
  }

  /** Hands back what has not been sent; resolves when what was is settled. */
  async stop(): Promise<void> {
    this.#closing = true
    for (const [timer, hand] of this.#timers) {
      clearTimeout(timer)
      this.#handBack(hand, hand.sendAt === null)
    }
    this.#timers.clear()
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #send(hand: ClaimInHand): Promise<void> {
    if (hand.subscription.signature !== undefined && !(await this.#sign(hand)))
      return this.#handBack(hand, hand.sendAt === null, UNSIGNED_MS)
    const current = await this.#currentOf(hand)
    const lateMs = hand.sendAt === null ? 0 : performance.now() - hand.sendAt
    if (!current || this.#closing || lateMs > LATE_MS) return this.#handBack(hand, hand.sendAt === null)
    const { claim, message } = hand
    const { id, maxInFlight } = current.record
    if (hand.sendAt !== null && !this.#options.slots.acquire(id, maxInFlight))
      return this.#handBack(hand, false)
    const hung = setTimeout(() => this.#hang(id), HUNG_MS)
    const outcome = await new Promise<Outcome>((resolve) =>
      this.#options.attempts.attempt(current, message, claim.delivery, resolve, hand.run),
    )
    clearTimeout(hung)
    this.#options.slots.release(id, maxInFlight, outcome.answeredAfterMs)
    this.onRoom()
    const attempts = (claim.state?.attempts ?? 0) + 1
    await this.#options.finishing.finish({
      claimed: claimedOf(hand),
      subscription: current,
      message,
      ...(hand.run ? { run: hand.run.slice(0, outcome.along) } : {}),
      attempts,
      ...(current.paced ? { retryCost: retryCost(claim.state) } : {}),
      outcome,
    })
    this.#closed()
  }

  /** False where no key can be had, which is found out in its own time: a slot that is held so long bounds the tries. */
  async #sign({ subscription, message }: ClaimInHand): Promise<boolean> {
    const { signature, target } = subscription
    try {
      await this.#options.signing.prepare(message.envelopeFor(signature), target)
      return true
    } catch {
      return false
    }
  }

  /** What is suspect fills no more than its half: there may be room for others. */
  #hang(id: string): void {
    this.#options.slots.hang(id)
    this.onRoom()
  }

  /** The subscription as it is now; undefined where this claim may not be sent by it (invariant 6). */
  async #currentOf(hand: ClaimInHand): Promise<CompiledSubscription | undefined> {
    const { subscription, checkedAt } = hand
    if (performance.now() - checkedAt < PLAN_AGE_MS_MAX) return subscription
    try {
      const slice = await this.#options.plans.slice(subscription)
      const current = slice?.byId.get(subscription.record.id)
      if (!current || current.record.status === 'paused' || current.rate !== subscription.rate)
        return undefined
      return mayGo(current.record, hand.message.message) ? current : undefined
    } catch (error) {
      this.#options.log.debug({ err: error, subscriptionId: subscription.record.id }, 'claim.plan_unknown')
      return undefined
    }
  }

  #handBack(hand: ClaimInHand, hasSlot: boolean, delayMs = 0): void {
    const { id, maxInFlight } = hand.subscription.record
    if (hasSlot) {
      this.#options.slots.release(id, maxInFlight, undefined)
      this.onRoom()
    }
    const { settling, pacing } = this.#options
    if (hand.subscription.paced) pacing.unsent(hand.subscription.shard, id, retryCost(hand.claim.state))
    void settling
      .settle(
        hand.subscription.shard,
        claimedOf(hand),
        delayMs === 0 ? { op: 'return' } : { op: 'return', delayMs },
      )
      .then(() => this.#closed())
  }

  #closed(): void {
    this.#open--
    if (this.#closing && this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

export function claimedOf({ subscription, claim }: ClaimInHand): Claimed {
  return { subscriptionId: subscription.record.id, delivery: claim.delivery, lease: claim.lease }
}
