/** Checks the snapshot of a unit whose first attempts have waited, before more of them are started by it. */
import type { Unit } from '../dispatch/job-run.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'

/**
 * Invariant 6 allows 100 ms.
 * @limit Age of the last check of a snapshot by which a first attempt starts. Past it: the revision is checked first.
 */
const FIRST_SNAPSHOT_AGE_MS_MAX = 80

/** `unknown`: the slice is gone, Redis is unreachable, or the run is lost. */
export type SnapshotState = 'current' | 'changed' | 'unknown'

export interface SnapshotChecksOptions {
  snapshots: Pick<SnapshotCache, 'slice' | 'checkedAt'>
  /** Called after a check. The unit has the newest slice, unless the state is unknown. */
  checked(unit: Unit, state: SnapshotState): void
}

export class SnapshotChecks {
  readonly #options: SnapshotChecksOptions
  readonly #checking = new Set<Unit>()

  constructor(options: SnapshotChecksOptions) {
    this.#options = options
  }

  /** Whether to check now: the run is lost, so another worker has its deliveries, or the last check is too old. */
  isDue({ run, checkedAt }: Unit): boolean {
    return run.lost || performance.now() - checkedAt >= FIRST_SNAPSHOT_AGE_MS_MAX
  }

  /** Returns true if nothing of the unit may start before `checked` is called. */
  mustWait(unit: Unit): boolean {
    if (!this.isDue(unit)) return false
    if (!this.#checking.has(unit)) {
      this.#checking.add(unit)
      void this.#check(unit)
    }
    return true
  }

  async #check(unit: Unit): Promise<void> {
    const { snapshots, checked } = this.#options
    let slice = null
    try {
      slice = unit.run.lost ? null : await snapshots.slice(unit.slice)
    } catch {
      // Redis is unreachable, so nothing may start by this snapshot. Parking logs that, and tries until it works.
    }
    this.#checking.delete(unit)
    const isCurrent = slice?.revision === unit.slice.revision
    if (slice) {
      unit.slice = slice
      // The cache may have answered with an older check. If the answer took long, a newer one is not available.
      const newest = performance.now() - FIRST_SNAPSHOT_AGE_MS_MAX / 2
      unit.checkedAt = Math.max(snapshots.checkedAt(slice), newest)
    }
    checked(unit, isCurrent ? 'current' : slice ? 'changed' : 'unknown')
  }
}
