/** Pauses of tasks between two steps, because of a rate, the memory, a full lane, or a canary. */
import { passingTime } from '@fantail/store'

/** Pause between two looks at a task. Past it: the task is read again. */
const TASK_WAIT_MS_MAX = 500

export class TaskPauses {
  #running = 0
  #ended = 0

  get running(): number {
    return this.#running
  }

  /** How many pauses there were. */
  get ended(): number {
    return this.#ended
  }

  /** Resolves after this time of the stack, after TASK_WAIT_MS_MAX of real time, or when the signal is aborted. */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.#running++
    await pauseFor(ms, signal)
    this.#running--
    this.#ended++
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      due.cancel()
      clearTimeout(look)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const due = passingTime.after(ms, end)
    const look = setTimeout(end, TASK_WAIT_MS_MAX)
    signal.addEventListener('abort', end)
  })
}
