/** Decides how long `--watch` shows a redrive: until it has ended, and the ends of its deliveries are known. */
import type { Redrive } from '@fantail/client/api'

/** How long a watched redrive that has completed waits for the ends of its deliveries. Past it: it ends. */
const WATCH_ENDS_MS_MAX = 5_000

export class RedriveEnds {
  #task: Redrive | undefined
  #endedAt: number | undefined

  seen(task: Redrive): void {
    this.#task = task
    if (task.endedAt !== null) this.#endedAt ??= performance.now()
  }

  /** A redrive that has paused itself is not waited for. */
  get areAllIn(): boolean {
    const task = this.#task
    if (task?.pauseReason !== undefined) return true
    if (!task || this.#endedAt === undefined) return false
    const { action, destination, moved, delivered, backInDlq, discarded } = task
    const hasEnds = action === 'redrive' && destination === null
    const isOver = performance.now() - this.#endedAt > WATCH_ENDS_MS_MAX
    return !hasEnds || isOver || delivered + backInDlq + discarded >= moved
  }
}
