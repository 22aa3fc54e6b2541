/** The clock of a queue as the models of queues know it, in seconds. */
export class ModelClock {
  now = 0
  offset = 0
  seen = 0

  /** A clock set back is made up for by the offset; only calls that write remember how far it came. */
  at(now: number, write: boolean): void {
    this.now = now
    const clock = now + this.offset
    const offset = clock + 1 < this.seen ? this.seen - now : this.offset
    if (!write) return
    this.offset = offset
    this.seen = Math.max(this.seen, now + offset)
  }

  get clock(): number {
    return Math.max(this.now + this.offset, this.seen)
  }
}
