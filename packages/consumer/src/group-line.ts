/** Runs the tasks of one FIFO group one after the other. Tasks of different groups do not wait for each other. */
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
