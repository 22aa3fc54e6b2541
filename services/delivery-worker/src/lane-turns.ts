/**
 * Throttled claims in hand, each until its send time.
 *
 * waiting ──its time──▶ due ──checked, in time──▶ sent, no longer here
 *    ▲                   │
 *    └──── renewing ◀────┘ late, or another claim of its lane is
 *
 * A request may be sent LATE_MS after its send time, as one that is later would crowd those after it (rate × lateness must
 * stay within the 10 % that invariant 4 allows in a second). A claim that is later is kept: all claims that this worker has
 * in hand for the lane move on by the delay. Where another worker has later ones, those that are late get new send times
 * instead (renew-claims-1.lua). One that is late again and again goes back to its lane after RENEWALS_MAX of them.
 *
 * A send time holds as long as Redis knows it. A Redis that comes back from an outage may have forgotten the last of them,
 * so nothing is sent without a connection, and what is in hand is renewed after it. One whose clock was set forward gives
 * out times that lie among those in hand, here and at other workers: what is in hand, and what comes now, is put off until
 * theirs are over.
 */
import { SEND_AHEAD_MS, SEND_LATE_MS_MAX } from '@fantail/policy'
import type { RenewedClaim } from '@fantail/store'
import type { ClaimInHand } from './lane-attempts.ts'
import type { Renewals } from './renewals.ts'
import type { ShardClocks } from './shard-clocks.ts'

/** A little less than the throttle's bound allows: the request has still to be written. */
const LATE_MS = SEND_LATE_MS_MAX - 10
const RENEWALS_MAX = 3

export interface Turn {
  readonly hand: ClaimInHand
  /** Rises with each renewal. Work for an earlier round is then void. */
  round: number
  renewing: boolean
  /** How often it was renewed because it was late. */
  renewals: number
  timer: NodeJS.Timeout | undefined
}

export interface LaneTurnsOptions {
  renewals: Pick<Renewals, 'renew'>
  clocks: ShardClocks
  /** Whether Redis can be asked. */
  isConnected(): boolean
  /** Its time has come: to be checked, then begun by `start`. */
  onTurn(turn: Turn): void
  /** It has no send time any more, and is not here any more. */
  onNone(hand: ClaimInHand): void
}

export class LaneTurns {
  readonly #options: LaneTurnsOptions
  /** By subscription. */
  readonly #lanes = new Map<string, Set<Turn>>()
  /** By performance.now(): until then other workers may have claims in hand by an earlier time of Redis's. */
  #othersUntil = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(options: LaneTurnsOptions) {
    this.#options = options
  }

  add(hand: ClaimInHand): void {
    const leadMs = this.#othersUntil - performance.now()
    if (leadMs <= 0) this.#wait(this.#keep(hand))
    else this.#replace([this.#keep(hand)], leadMs)
  }

  /** The attempt needs another request, which gets a send time of its own. */
  addAgain(hand: ClaimInHand): void {
    this.#replace([this.#keep(hand)], 0)
  }

  /** True: it is in time and no longer here. False: it gets a new send time, or `onNone` has been called. */
  start(turn: Turn): boolean {
    if (this.#isLate(turn)) this.#renewLate(turn)
    else if (!this.#options.isConnected()) this.#renewLane(turn)
    else {
      this.leave(turn)
      return true
    }
    return false
  }

  /** Redis is back, and may have forgotten what is in hand here. */
  reconnected(): void {
    for (const lane of this.#lanes.values()) this.#renew(inTurn(lane), 0)
  }

  /** The clock of Redis is ahead of what it was. */
  setForward(): void {
    this.#othersUntil = performance.now() + SEND_AHEAD_MS
    for (const lane of this.#lanes.values()) this.#replace(inTurn(lane), SEND_AHEAD_MS)
  }

  leave(turn: Turn): void {
    clearTimeout(turn.timer)
    const id = turn.hand.subscription.record.id
    const lane = this.#lanes.get(id)
    lane?.delete(turn)
    if (lane?.size === 0) this.#lanes.delete(id)
  }

  /** Calls `onNone` for what waits, and for what is being renewed once it is. What is due is its caller's. */
  stop(): void {
    this.#stopped = true
    const waiting = [...this.#lanes.values()].flatMap((lane) => [...lane].filter(({ timer }) => timer))
    for (const turn of waiting) this.#drop(turn)
  }

  #keep(hand: ClaimInHand): Turn {
    const turn = { hand, round: 0, renewing: false, renewals: 0, timer: undefined }
    const { id } = hand.subscription.record
    const lane = this.#lanes.get(id)
    if (lane) lane.add(turn)
    else this.#lanes.set(id, new Set([turn]))
    return turn
  }

  #wait(turn: Turn): void {
    const waitMs = (turn.hand.sendAt ?? 0) - performance.now()
    if (waitMs <= 1) this.#due(turn)
    else turn.timer = setTimeout(() => this.#due(turn), waitMs)
  }

  #due(turn: Turn): void {
    turn.timer = undefined
    if (this.#isLate(turn)) this.#renewLate(turn)
    else this.#options.onTurn(turn)
  }

  #isLate({ hand }: Turn): boolean {
    return performance.now() - (hand.sendAt ?? 0) > LATE_MS
  }

  /** A worker that is late again needs a lead of as much: Redis's answer would else be old when it is read. */
  #renewLate(late: Turn): void {
    if (late.renewals === RENEWALS_MAX) {
      this.#drop(late)
      return
    }
    const lateMs = performance.now() - (late.hand.sendAt ?? 0)
    this.#renewLane(late, late.renewals > 0 ? Math.min(lateMs, SEND_AHEAD_MS) : 0)
  }

  #renewLane({ hand }: Turn, leadMs = 0): void {
    const turns = inTurn(this.#lanes.get(hand.subscription.record.id) ?? [])
    for (const turn of turns) if (this.#isLate(turn)) turn.renewals++
    this.#renew(turns, leadMs)
  }

  /** New send times, whatever the present ones are. */
  #replace(turns: Turn[], leadMs: number): void {
    for (const { hand } of turns) hand.claim = { ...hand.claim, sendAt: null }
    this.#renew(turns, leadMs)
  }

  #renew(turns: Turn[], leadMs: number): void {
    const [first] = turns
    if (!first) return
    const { record, shard } = first.hand.subscription
    for (const turn of turns) {
      clearTimeout(turn.timer)
      turn.timer = undefined
      turn.round++
      turn.renewing = true
    }
    const claims = turns.map(({ hand }) => hand.claim)
    const renewed = this.#options.renewals.renew(shard, { subscriptionId: record.id, leadMs, claims })
    void renewed.then((all) => {
      turns.forEach((turn, i) => {
        this.#renewed(turn, all[i])
      })
    })
  }

  #renewed(turn: Turn, renewed: RenewedClaim | undefined): void {
    const { hand } = turn
    turn.renewing = false
    if (renewed) hand.claim = { ...hand.claim, ...renewed }
    if (!renewed || renewed.sendAt === null || this.#stopped) {
      this.#drop(turn)
      return
    }
    hand.sendAt = this.#options.clocks.of(hand.subscription.shard).localTime(renewed.sendAt)
    this.#wait(turn)
  }

  #drop(turn: Turn): void {
    this.leave(turn)
    this.#options.onNone(turn.hand)
  }
}

/** Claims that are not being renewed, by send time. */
function inTurn(lane: Iterable<Turn>): Turn[] {
  return [...lane].filter(({ renewing }) => !renewing).sort((a, b) => timeOf(a) - timeOf(b))
}

/** Redis's time. */
function timeOf({ hand }: Turn): number {
  return hand.claim.sendAt ?? 0
}
