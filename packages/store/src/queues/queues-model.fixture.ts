/** The clock of a queue in the models of queues, in seconds. */
export class ModelClock {
  now = 0
  offset = 0
  seen = 0

  /** If the clock was set back, the offset makes up for it. Only calls that write store how far the clock has come. */
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
