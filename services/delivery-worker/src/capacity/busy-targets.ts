/**
 * Direct messages for many targets share a lane. One target must not take all slots of this lane, so a worker makes
 * only one attempt at a time for each target. If a target is busy, further deliveries for it wait in the lane. They get
 * different due times. Otherwise the lane would claim all of them again at once.
 */
import { LRUCache } from 'lru-cache'

/** Targets of direct messages whose waits a worker remembers. Past it: the least recently used is forgotten. */
const BUSY_TARGETS_MAX = 10_000
/**
 * Time that a delivery waits for its target. If several wait for the same target, their due times are this far apart.
 */
const TARGET_WAIT_MS = 250
const TARGET_STEP_MS = 25
/**
 * Time that a direct message waits for its target. Past it: the message is claimed again, and may have to wait again.
 */
const TARGET_WAIT_MS_MAX = 60_000

type Aimed = { readonly message: { readonly target?: string } }

export class BusyTargets {
  readonly #now: () => number
  /** Target → number of running attempts. */
  readonly #busy = new Map<string, number>()
  /** For each target, the latest due time that was given to a delivery for it. */
  readonly #given = new LRUCache<string, number>({ max: BUSY_TARGETS_MAX })

  /** `now`: monotonic ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether an attempt at the message's target is under way. Messages of topics have no target. */
  isBusy({ message: { target } }: Aimed): boolean {
    return target !== undefined && this.#busy.has(target)
  }

  begin({ message: { target } }: Aimed): void {
    if (target !== undefined) this.#busy.set(target, (this.#busy.get(target) ?? 0) + 1)
  }

  end({ message: { target } }: Aimed): void {
    if (target === undefined) return
    const left = (this.#busy.get(target) ?? 1) - 1
    if (left > 0) this.#busy.set(target, left)
    else this.#busy.delete(target)
  }

  /** How long the delivery must wait in its lane. Undefined: its attempt may begin now. */
  waitOf(aimed: Aimed): number | undefined {
    const { target } = aimed.message
    if (target === undefined || !this.isBusy(aimed)) return undefined
    const now = this.#now()
    const next = Math.max(now + TARGET_WAIT_MS, (this.#given.get(target) ?? 0) + TARGET_STEP_MS)
    const at = Math.min(next, now + TARGET_WAIT_MS_MAX)
    this.#given.set(target, at)
    return at - now
  }
}
