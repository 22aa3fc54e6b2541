/**
 * Notifies classes that wait for capacity: for slots, for bytes of messages, or until fewer first attempts are queued.
 *
 * A class that frees capacity announces it. The waiting classes are then called at once, in the order in which they
 * were given to `notify`. Each checks itself whether it can continue. An earlier one may use the capacity that a later
 * one waits for.
 */
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

export type FreedBy = Pick<CompiledSubscription, 'shard' | 'record'>

interface WaitsForCapacity {
  /**
   * Called when capacity of any kind was freed. It runs after every attempt, so it must be very cheap. `by`: the
   * subscription whose first attempt has ended.
   */
  capacityFreed(by?: FreedBy): void
}

export class FreedCapacity {
  #waiting: readonly WaitsForCapacity[] = []

  /** Sets the waiting classes. Before this call, nothing is notified. */
  notify(...waiting: WaitsForCapacity[]): void {
    this.#waiting = waiting
  }

  announce(by?: FreedBy): void {
    for (const part of this.#waiting) part.capacityFreed(by)
  }
}

/** The methods for a class that only announces capacity. */
export type CapacityAnnouncer = Pick<FreedCapacity, 'announce'>
