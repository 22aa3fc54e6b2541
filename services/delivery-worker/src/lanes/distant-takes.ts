/**
 * The policy for takes while round trips to a shard's master are long. The attempts of the last take have then ended
 * long before the next one comes. Takes of a shard therefore run side by side, do not wait until a reply says that more
 * is due, bring bodies along, and name how many claims each lane may get once its attempts have ended.
 */
import { type ClaimedLane, NUMBER, type TakeRequest, type TakeResult } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { RedisClock } from '../clocks/redis-clock.ts'

/** Round trips are long while the latest one took longer than this. */
const LONG_TRIP_MS = 50
/** Claims of a lane for which no number is known, in each take that runs beside another one. */
const DISTANT_OTHERS = 1
/** The measured round trip is rounded up to a multiple of this, as it differs a little every time. */
const TRIP_STEP_MS = 50
/** Bytes of the bodies that a take brings along while round trips are long. Past it: the others are read afterwards. */
const DISTANT_BODY_BYTES = 262_144
/** For how long a lane without claims is named in takes. */
const SERVED_MS = 10_000
/** Lanes without an attempt in flight that a worker names in a take. Past it: they get as many as new lanes. */
const SERVED_LANES_MAX = 1_000

export type TakeBounds = Partial<TakeRequest> & Pick<TakeRequest, 'limits'>

export interface RunningTakes {
  takes: number
  /** When the latest began, by performance.now(). */
  askedAt: number
}

interface ServedLane {
  shard: number
  /** When a take last had capacity for the lane, by performance.now(). -Infinity: that take got no claims of it. */
  namedAt: number
  /** True if the latest reply of a take with capacity for the lane had no claims of it. */
  missed: boolean
}

/** Whether round trips to the clock's master are long. */
export function isDistant({ roundTripMs }: RedisClock): boolean {
  return roundTripMs > LONG_TRIP_MS
}

/** When a take may begin beside the running ones of its shard. `now`: by performance.now(). */
export function besideInMs({ takes, askedAt }: RunningTakes, clock: RedisClock, now: number): number {
  if (!isDistant(clock) || takes >= NUMBER.DISTANT_TAKES) return Number.POSITIVE_INFINITY
  return askedAt + clock.roundTripMs / NUMBER.DISTANT_TAKES - now
}

export class DistantTakes {
  readonly #slots: Pick<AttemptSlots, 'nextAllowance' | 'startingAllowance'>
  /** Shards whose latest take has found deliveries. */
  readonly #yielding = new Set<number>()
  /** Lanes that lately had claims. */
  readonly #served = new LRUCache<string, ServedLane>({
    maxSize: SERVED_LANES_MAX,
    ttl: SERVED_MS,
    sizeCalculation: () => 1,
  })

  constructor(slots: Pick<AttemptSlots, 'nextAllowance' | 'startingAllowance'>) {
    this.#slots = slots
  }

  /** Whether the shard's latest take has found deliveries, so that more are probably due. */
  isYielding(shard: number): boolean {
    return this.#yielding.has(shard)
  }

  /** Called when a take has failed. */
  failed(shard: number): void {
    this.#yielding.delete(shard)
  }

  /** Called with the reply to a take while round trips are long. `askedAt`: by performance.now(). */
  remember(shard: number, { lanes }: TakeResult, askedAt: number): void {
    if (lanes.length > 0) this.#yielding.add(shard)
    else this.#yielding.delete(shard)
    this.#returnUnused(shard, lanes, askedAt)
    // A throttled lane gets what its send times allow.
    const served = lanes.filter(({ claims }) => claims.some(({ sendAt }) => sendAt === null))
    for (const { subscriptionId } of served) {
      const namedAt = this.#served.get(subscriptionId)?.namedAt ?? Number.NEGATIVE_INFINITY
      this.#served.set(subscriptionId, { shard, namedAt, missed: false })
    }
  }

  /**
   * A take may have had capacity for a lane that was not due, or that it did not reach. The next take then has it.
   * Otherwise each take that meets the lane could be one without capacity, and the lane would wait on and on.
   */
  #returnUnused(shard: number, lanes: ClaimedLane[], askedAt: number): void {
    const claimed = new Set(lanes.map(({ subscriptionId }) => subscriptionId))
    for (const [id, served] of this.#served.entries()) {
      if (served.shard !== shard || served.namedAt !== askedAt || claimed.has(id)) continue
      served.namedAt = Number.NEGATIVE_INFINITY
      served.missed = true
    }
  }

  /**
   * Claims of lanes whose attempts in flight will have ended when the take's reply comes. If an endpoint answers so
   * slowly that the claims of the take before will still be in flight, its lane gets none. If the take before may have
   * got no claims, the lane gets as many as a new lane. `now`: when the take begins, by performance.now().
   */
  nextLimits(shard: number, now: number): Map<string, number> {
    const limits = new Map<string, number>()
    for (const [id, served] of this.#served.entries()) {
      const next = served.shard === shard ? this.#slots.nextAllowance(id) : undefined
      if (!next) continue
      const isFree = now - served.namedAt >= next.inMs
      if (isFree) served.namedAt = now
      if (isFree || !served.missed) limits.set(id, isFree ? next.attempts : 0)
    }
    return limits
  }

  /** The bounds of a take. `isBeside`: whether another take of the shard is running. */
  bounds(limits: Map<string, number>, clock: RedisClock, isBeside: boolean): TakeBounds {
    return {
      limits,
      othersMax: isBeside ? DISTANT_OTHERS : this.#slots.startingAllowance,
      tripMs: Math.ceil(clock.roundTripMs / TRIP_STEP_MS) * TRIP_STEP_MS,
      leadMs: Math.round(clock.lateMs),
      bodyBytesMax: DISTANT_BODY_BYTES,
    }
  }
}
