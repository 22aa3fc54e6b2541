/** A dispatch job as a worker gets it, and the result that the worker returns. */
import type { DispatchPart } from '../dispatch-job.ts'
import type { RunCopies } from './run-copies.ts'

/** The members that identify a run, also after its job is completed. */
export type RunId = Pick<DispatchRun, 'jobName' | 'fence'>

/** Where the messages of a job are stored. */
export interface JobRecord {
  /** Key of its hash in Redis. */
  jobKey: string
  /** The `jobName` of its runs. */
  jobName: string
  /** Epoch ms. */
  addedAt: number
}

export interface DispatchRun {
  /**
   * Names the job in checkpoints: `dispatch-<queue>:<job id>:<when it was added, in base 36>`. The time is needed
   * because BullMQ may give a job id again.
   */
  jobName: string
  /** The number of this start of the job. When a later start exists, this run is stale. */
  fence: number
  /** Their bodies, not verified yet. */
  messages: string[]
  /** The job that holds the messages. For a part it is not the part itself. Absent: no ring keeps it whole. */
  record?: JobRecord
  /** Set if the job is a part of another job. */
  part?: DispatchPart
  isLost(): boolean
  /** Records every copy that the run writes. The job is completed only while all copies still exist. */
  copies: RunCopies
  /** Whether Redis has capacity for this many parts. Rejects if Redis fails. */
  hasCapacityFor(parts: number): Promise<boolean>
  /**
   * Turns the parts of this job into jobs of their own. Safe to repeat with the same parts. Returns false if a later
   * start has the job by now. Rejects if Redis fails.
   */
  handOut(parts: DispatchPart[]): Promise<boolean>
  /**
   * Adds the missing parts of a job that an earlier start has cut. Returns false if none has cut it. Rejects if Redis
   * fails.
   */
  handOutAgain(): Promise<boolean>
}

/**
 * The end of a run:
 *
 * - settled: everything of the job is settled.
 * - lost: some deliveries may not be settled, so a later start does them.
 * - cut: the job was divided into parts, and waits for them.
 * - postponed: a later start does the rest, after this number of ms.
 */
export type RunEnd = 'settled' | 'lost' | 'cut' | { postponedMs: number }
