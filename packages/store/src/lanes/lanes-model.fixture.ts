/**
 * A model of lanes in memory: which deliveries wait, which are in flight under which lease, and how the others ended.
 * The model test runs the same operations here and on a real Redis and compares everything.
 *
 * Redis's clock runs during a test. The operations' times are therefore far apart: time moves in steps of 10 s, every
 * span ends 5 s off a step, and a run takes less than that.
 */
import { RANDOM_TIMEOUT_MS, randomRuns } from '@fantail/test-kit'
import fc from 'fast-check'
import type { DeadState, RetryState, SettleTo, Standing } from './records/lane-records.ts'
import { packState } from './records/lane-records.ts'

/** Plays random histories of the operations. A busy machine plays fewer. Rejects with the shortest one that fails. */
export async function holdsAfterHistories<Operation>(
  operation: fc.Arbitrary<Operation>,
  play: (operations: Operation[]) => Promise<void>,
): Promise<void> {
  const histories = fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 60, size: 'max' }), play)
  const limit = { interruptAfterTimeLimit: RANDOM_TIMEOUT_MS / 6, markInterruptAsFailure: false }
  await fc.assert(histories, { numRuns: randomRuns(30, 0.005), ...limit })
}

export const STEP_MS = 10_000
export const LEASE_MS = 25_000
export const DEAD_LEASE_MS = 12_000
export const RETENTION_SECONDS = 95

export interface Entry {
  lane: string
  /** Hex. */
  delivery: string
  publishedAt: number
  where: 'fresh' | 'retry' | 'lease'
  /** The due time, or the end of the lease. */
  at: number
  lease: string | null
  state: RetryState | DeadState | null
  /** Leases that ended in a row. */
  ends: number
}

/** How long a delivery waits after this many leases ended in a row. */
export function endsDelayMs(ends: number): number {
  return ends < 2 ? 0 : Math.min(300_000, 1_000 * 2 ** (ends - 2))
}

/** The state as the lane stores it. undefined: nothing is stored. */
export function storedState({ state, ends }: Pick<Entry, 'state' | 'ends'>): string | undefined {
  const text = (state ? packState(state) : '') + (ends > 0 ? `\x1f${ends}` : '')
  return text === '' ? undefined : text
}

export interface LaneModel {
  id: string
  maxInFlight: number
  rate: number | null
  groupRates?: string
  deadLetters: boolean
  paused: boolean
  gone: boolean
  /** Whether the endpoint is proven. If not, the lane waits in `unproven`. */
  proven: boolean
}

export class Model {
  readonly lanes: Map<string, LaneModel>
  readonly entries = new Map<string, Entry>()
  readonly ended: Record<string, number> = {}
  /** Lanes that the last take did not finish. They may be due later than usual. */
  readonly cut = new Set<string>()
  parked = 0

  constructor(lanes: LaneModel[]) {
    this.lanes = new Map(lanes.map((lane) => [lane.id, lane]))
  }

  of(lane: string, where?: Entry['where']): Entry[] {
    return [...this.entries.values()].filter(
      (e) => e.lane === lane && (where === undefined || e.where === where),
    )
  }

  end(entry: Entry, reason: string): void {
    this.entries.delete(entry.lane + entry.delivery)
    this.ended[reason] = (this.ended[reason] ?? 0) + 1
  }

  park(entry: Entry): 'parked' | 'present' | 'unsubscribed' {
    const key = entry.lane + entry.delivery
    this.parked++
    if (this.lanes.get(entry.lane)?.gone) {
      this.ended['discarded:unsubscribed'] = (this.ended['discarded:unsubscribed'] ?? 0) + 1
      return 'unsubscribed'
    }
    if (this.entries.has(key)) {
      this.parked--
      return 'present'
    }
    this.entries.set(key, entry)
    return 'parked'
  }

  /** Stores the endpoint's standing of an accepted write. */
  note(id: string, standing: Standing | undefined): void {
    const lane = this.lanes.get(id)
    if (lane && !lane.gone && standing) lane.proven = standing === 'proven'
  }

  returnEnded(lane: string, now: number): void {
    for (const entry of this.of(lane, 'lease')) {
      if (entry.at > now) continue
      const delayMs = endsDelayMs(++entry.ends)
      if (delayMs > 0) Object.assign(entry, { where: 'retry', at: now + delayMs, lease: null })
      else this.putBack(entry, now)
    }
  }

  putBack(entry: Entry, now: number, delayMs = 0): void {
    entry.where = entry.state ? 'retry' : 'fresh'
    entry.at = entry.state || delayMs > 0 ? now + delayMs : Math.min(now, entry.publishedAt)
    entry.lease = null
  }

  settle(lane: string, delivery: string, lease: string, to: SettleTo, now: number): boolean {
    const entry = this.entries.get(lane + delivery)
    if (entry?.where !== 'lease' || entry.lease !== lease) return false
    this.cut.delete(lane)
    const gone = this.lanes.get(lane)?.gone
    if (gone && (to.op === 'retry' || to.op === 'returnToLane' || to.op === 'returnUncounted'))
      this.end(entry, 'discarded:unsubscribed')
    else if (to.op === 'delivered') this.end(entry, 'delivered')
    else if (to.op === 'deadLettered') this.end(entry, 'deadLettered')
    else if (to.op === 'discard') this.end(entry, `discarded:${to.cause}`)
    else if (to.op === 'quarantined') this.end(entry, 'quarantined')
    else if (to.op === 'returnToLane') this.putBack(entry, now, to.delayMs)
    else if (to.op === 'returnUncounted') {
      entry.ends = 0
      this.putBack(entry, now)
    } else if (to.op === 'declareDead') Object.assign(entry, { state: to.state, ends: 0 })
    else if (to.op === 'retry')
      Object.assign(entry, { where: 'retry', at: now + to.delayMs, lease: null, state: to.state, ends: 0 })
    return true
  }

  isOld(entry: Entry, now: number): boolean {
    return entry.state?.kind !== 'dead' && entry.publishedAt < now - RETENTION_SECONDS * 1_000
  }
}
