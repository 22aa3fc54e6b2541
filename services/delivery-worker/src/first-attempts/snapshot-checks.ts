/** Checks the snapshot of a unit whose first attempts have waited. The others start only after this check. */
import type { Unit } from '../runs/unit.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'

/**
 * Age of the last check of a snapshot with which a first attempt starts. Past it: the revision is checked first.
 * Invariant 6 allows 100 ms.
 */
const FIRST_SNAPSHOT_AGE_MS_MAX = 80

/** `unknown`: the slice is gone, Redis is unreachable, or the run is lost. */
export type SnapshotState = 'current' | 'changed' | 'unknown'

export interface SnapshotChecksOptions {
  snapshots: Pick<SnapshotCache, 'slice' | 'checkedAt'>
  /** Called after a check. Unless the state is unknown, the unit has the newest slice now. */
  checked(unit: Unit, state: SnapshotState): void
}

export class SnapshotChecks {
  readonly #options: SnapshotChecksOptions
  readonly #checking = new Set<Unit>()

  constructor(options: SnapshotChecksOptions) {
    this.#options = options
  }

  /**
   * Whether a check is needed. This is so if the last check is too old, or if the run is lost and another worker has
   * its deliveries.
   */
  isDue({ run, checkedAt }: Unit, now: number): boolean {
    return run.lost || now - checkedAt >= FIRST_SNAPSHOT_AGE_MS_MAX
  }

  /**
   * Returns true if nothing of the unit may start before `checked` is called. Every unit has a check of its own, after
   * which the queues of all its subscriptions go on together. If another unit has just checked the same slice, the unit
   * need not wait. Otherwise, behind a slow Redis, units would wait for a round trip each, one after the other.
   */
  mustWait(unit: Unit, now: number): boolean {
    if (!this.isDue(unit, now)) return false
    if (this.#checking.has(unit)) return true
    const { snapshots } = this.#options
    const slice = unit.run.lost ? null : snapshots.slice(unit.slice)
    if (slice === unit.slice) {
      unit.checkedAt = snapshots.checkedAt(slice)
      return false
    }
    this.#checking.add(unit)
    void this.#check(unit, slice)
    return true
  }

  async #check(unit: Unit, read: ReturnType<SnapshotCache['slice']> | null): Promise<void> {
    const { snapshots, checked } = this.#options
    let slice = null
    try {
      slice = await read
    } catch {
      // Redis does not answer, so no attempt may start with this snapshot. Parking logs the failure and repeats until
      // Redis answers.
    }
    this.#checking.delete(unit)
    const isCurrent = slice?.revision === unit.slice.revision
    if (slice) {
      unit.slice = slice
      unit.checkedAt = snapshots.checkedAt(slice)
    }
    checked(unit, isCurrent ? 'current' : slice ? 'changed' : 'unknown')
  }
}
