/**
 * Announces freed capacity: slots, bytes of messages, and places among the first attempts that wait.
 *
 * A part that frees some announces it. Parts that wait for some are called at once, in the order in which they were
 * named, and each finds out whether it can go on. An earlier part may take what a later one waits for.
 */
interface WaitsForCapacity {
  /** Capacity of some kind came free. Called for every attempt that ends, so it costs next to nothing. */
  capacityFreed(): void
}

export class FreedCapacity {
  #waiting: readonly WaitsForCapacity[] = []

  /** Until this is called, nobody is notified. */
  notify(...waiting: WaitsForCapacity[]): void {
    this.#waiting = waiting
  }

  announce(): void {
    for (const part of this.#waiting) part.capacityFreed()
  }
}

/** For a part that only announces. */
export type CapacityAnnouncer = Pick<FreedCapacity, 'announce'>
