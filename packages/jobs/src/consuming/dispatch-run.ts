/** A dispatch job as a worker gets it, and the result that the worker returns. */
import type { Message } from '@fantail/contracts'
import type { DispatchPart } from '../dispatch-job.ts'
import type { RunCopies } from './run-copies.ts'

/** The part of a run that is still known when its job is completed. */
export type RunName = Pick<DispatchRun, 'key' | 'fence'>

export interface DispatchRun {
  /** Names the job in checkpoints: `<queue>:<job id>:<when it was added>`, as a number may be given again. */
  key: string
  /** Which start of the job this is; a higher one elsewhere makes this run stale. */
  fence: number
  messages: Message[]
  /** Where it is a part of another job: what of it. */
  part?: DispatchPart
  isLost(): boolean
  /** Records everything that the run writes elsewhere. The job is completed only while that stands. */
  copies: RunCopies
  /** Whether Redis has capacity for so many parts. Rejects if Redis fails. */
  hasCapacityFor(parts: number): Promise<boolean>
  /**
   * Makes jobs of their own of the parts of this one; safe to repeat with the same parts. False where it is another
   * start's by now. Rejects where Redis fails.
   */
  handOut(parts: DispatchPart[]): Promise<boolean>
  /**
   * False where no earlier start has handed out parts; else what of them is missing has been. Rejects where Redis
   * fails.
   */
  handOutAgain(): Promise<boolean>
}

/**
 * settled: everything of the job is. lost: some of it may not be, which is for a later start. cut: its parts are handed
 * out, and their job waits for them. postponed: what is left of it is for a later start, after so many ms.
 */
export type RunEnd = 'settled' | 'lost' | 'cut' | { postponedMs: number }
