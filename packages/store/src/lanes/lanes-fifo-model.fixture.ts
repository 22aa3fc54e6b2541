/**
 * A model of FIFO lanes in memory. For each lane and group it has a list of deliveries, of which only the first may be
 * in flight. The model test runs the same operations here and on a real Redis and compares everything.
 */
import { endsDelayMs } from './lanes-model.fixture.ts'
import type { DeadState, RetryState } from './records/lane-records.ts'

export interface FifoLane {
  id: string
  maxInFlight: number
  deadLetters: boolean
  /** Whether several deliveries of a group may be claimed at once. */
  sendsFollowers: boolean
  /** Whether the endpoint is proven. If not, the lane waits in `unproven`. */
  proven: boolean
  paused: boolean
  gone: boolean
}

interface Waiting {
  lane: string
  group: string
  /** Hex. */
  delivery: string
}

export interface Head extends Waiting {
  where: 'fresh' | 'retry' | 'lease'
  /** The due time, or the end of the lease. */
  at: number
  lease: string | null
  state: RetryState | DeadState | null
  /** Leases that ended in a row. */
  ends: number
}

export class FifoModel {
  readonly lanes: Map<string, FifoLane>
  /** Deliveries by lane and group, in order. The first is the head. */
  readonly lines = new Map<string, string[]>()
  /** By lane and delivery. */
  readonly heads = new Map<string, Head>()
  readonly ended: Record<string, number> = {}
  /** How many deliveries have entered a lane. */
  placed = 0

  constructor(lanes: FifoLane[]) {
    this.lanes = new Map(lanes.map((lane) => [lane.id, lane]))
  }

  lane(id: string): FifoLane {
    const lane = this.lanes.get(id)
    if (!lane) throw new Error(`no lane ${id}`)
    return lane
  }

  headsOf(lane: string, where?: Head['where']): Head[] {
    return [...this.heads.values()].filter(
      (h) => h.lane === lane && (where === undefined || h.where === where),
    )
  }

  behind({ lane, group }: Pick<Waiting, 'lane' | 'group'>): string[] {
    return (this.lines.get(`${lane} ${group}`) ?? []).slice(1)
  }

  /** Everything in the lane, also deliveries in flight. */
  all(): Waiting[] {
    return [...this.lines].flatMap(([key, line]) => {
      const [lane = '', group = ''] = key.split(' ')
      return line.map((delivery) => ({ lane, group, delivery }))
    })
  }

  join(lane: string, group: string, delivery: string, now: number): void {
    this.placed++
    const line = this.lines.get(`${lane} ${group}`) ?? []
    this.lines.set(`${lane} ${group}`, line)
    line.push(delivery)
    if (line.length === 1) this.#lead({ lane, group, delivery }, now)
  }

  /** Removes a delivery from its line. If it was the head, the next one is due now. */
  leave(lane: string, group: string, delivery: string, reason: string, now: number): void {
    const line = this.lines.get(`${lane} ${group}`) ?? []
    const at = line.indexOf(delivery)
    if (at < 0) throw new Error(`${lane} ${group} has no ${delivery}`)
    line.splice(at, 1)
    this.ended[reason] = (this.ended[reason] ?? 0) + 1
    if (at === 0) {
      this.heads.delete(lane + delivery)
      if (line[0] !== undefined) this.#lead({ lane, group, delivery: line[0] }, now)
    }
  }

  /** All waiting deliveries: heads that are not in flight, and everything behind any head. */
  waiting(lane: string): Waiting[] {
    return this.all().filter((entry) => {
      return entry.lane === lane && this.heads.get(lane + entry.delivery)?.where !== 'lease'
    })
  }

  discardWaiting(lane: string, reason: string, now: number): number {
    const waiting = this.waiting(lane)
    // Removes from the end, so that no other delivery becomes the head meanwhile.
    for (const { group, delivery } of waiting.toReversed()) this.leave(lane, group, delivery, reason, now)
    return waiting.length
  }

  returnEnded(lane: string, now: number): void {
    for (const head of this.headsOf(lane, 'lease')) {
      if (head.at > now) continue
      const delayMs = endsDelayMs(++head.ends)
      if (delayMs > 0) Object.assign(head, { where: 'retry', at: now + delayMs, lease: null })
      else putBack(head, now)
    }
  }

  #lead(entry: Waiting, now: number): void {
    const head: Head = { ...entry, where: 'fresh', at: now, lease: null, state: null, ends: 0 }
    this.heads.set(entry.lane + entry.delivery, head)
  }
}

export function putBack(head: Head, now: number): void {
  head.where = head.state ? 'retry' : 'fresh'
  head.at = head.state ? now : Math.min(now, publishedAt(head.delivery))
  head.lease = null
}

export function publishedAt(delivery: string): number {
  return Number.parseInt(delivery.slice(0, 12), 16)
}
