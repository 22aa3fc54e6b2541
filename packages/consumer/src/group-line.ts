/** Runs work of one FIFO group after the other. Work of different groups does not wait. */
export class GroupLine {
  readonly #last = new Map<string, Promise<void>>()

  /** `work` must not reject. */
  run(group: string, work: () => Promise<void>): Promise<void> {
    const before = this.#last.get(group) ?? Promise.resolve()
    const mine = before.then(work).finally(() => {
      if (this.#last.get(group) === mine) this.#last.delete(group)
    })
    this.#last.set(group, mine)
    return mine
  }
}
