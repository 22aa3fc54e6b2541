/**
 * Announces freed capacity: slots, bytes of messages, and places in the queue of first attempts.
 *
 * A part that frees some announces it. Parts that wait are then called at once, in the order in which they were named.
 * Each finds out itself whether it can continue. An earlier part may take what a later one waits for.
 */
interface WaitsForCapacity {
  /** Called when capacity of some kind is freed. It runs after every attempt, so it must cost next to nothing. */
  capacityFreed(): void
}

export class FreedCapacity {
  #waiting: readonly WaitsForCapacity[] = []

  /** Sets the parts to call. Before this call nobody is notified. */
  notify(...waiting: WaitsForCapacity[]): void {
    this.#waiting = waiting
  }

  announce(): void {
    for (const part of this.#waiting) part.capacityFreed()
  }
}

/** The methods for a part that only announces. */
export type CapacityAnnouncer = Pick<FreedCapacity, 'announce'>
