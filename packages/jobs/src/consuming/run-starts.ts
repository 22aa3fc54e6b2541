/** Makes a run for each start of a job, with the functions that the run needs. */
import {
  dispatchJobKey,
  QUARANTINE_BASE,
  type Redis,
  readCheckpointNames,
  type ServerMark,
  type ServerMarks,
} from '@fantail/store'
import { dispatchQueueName } from '../bullmq/bull.ts'
import type { TextJob } from '../bullmq/text-jobs.ts'
import { partOf } from '../dispatch-job.ts'
import type { DispatchParts } from './dispatch-parts.ts'
import type { DispatchRun, JobRecord, RunEnd } from './dispatch-run.ts'
import type { PartsCapacity } from './parts-capacity.ts'
import { RunCopies } from './run-copies.ts'
import type { RunEntry } from './run-entries.ts'

interface RunStartsOptions {
  /** Number of the dispatch queue. */
  queue: number
  redis: Redis
  servers: Pick<ServerMarks, 'mark'>
  parts: Pick<DispatchParts, 'handOut' | 'handOutAgain'>
  partsCapacity: Pick<PartsCapacity, 'take'>
}

export class RunStarts {
  readonly #options: RunStartsOptions
  readonly #jobsKey: string

  constructor(options: RunStartsOptions) {
    this.#options = options
    this.#jobsKey = dispatchJobKey(options.queue, '')
  }

  /** The entry of a run that has not begun. */
  entryOf({ id = '', attemptsStarted: starts, timestamp: addedAt }: TextJob): RunEntry {
    const { redis, servers } = this.#options
    const jobName = this.#nameOf(id, addedAt)
    const copies = new RunCopies({
      mark: (place) => servers.mark(place),
      readNames: (shard) => readCheckpointNames(redis, shard, jobName),
    })
    const since = performance.now()
    const done = Promise.resolve<RunEnd>('settled')
    const fresh = { begun: false, lost: false, since, copies, done }
    return { id, addedAt, starts, run: { jobName, fence: starts }, token: '', ...fresh }
  }

  runOf(entry: RunEntry, job: TextJob, messages: string[]): DispatchRun {
    const { parts, partsCapacity } = this.#options
    const part = partOf(job.data.text)
    return {
      ...entry.run,
      messages,
      ...(part
        ? { part: part.part, record: this.#recordOf(...part.of) }
        : { record: this.#recordOf(entry.id, entry.addedAt) }),
      isLost: () => entry.lost,
      copies: entry.copies,
      hasCapacityFor: (count) => partsCapacity.take(count),
      handOut: (some) => this.#handOut(entry, () => parts.handOut(job, entry.starts, some)),
      handOutAgain: () => this.#handOut(entry, () => parts.handOutAgain(job)),
    }
  }

  #nameOf(id: string, addedAt: number): string {
    return `${dispatchQueueName(this.#options.queue)}:${id}:${addedAt.toString(36)}`
  }

  #recordOf(id: string, addedAt: number): JobRecord {
    return { jobKey: this.#jobsKey + id, jobName: this.#nameOf(id, addedAt), addedAt }
  }

  /**
   * Marks for a job that is completed without a run. It is completed because of entries in its queue or in the
   * quarantine.
   */
  marks({ copies }: RunEntry): ServerMark[] {
    return [this.#jobsKey, QUARANTINE_BASE].map((key) => copies.mark(key))
  }

  /**
   * Adds parts of the job. A job that was cut is completed once its parts exist or have ended. The added parts are
   * therefore copies of its deliveries.
   */
  async #handOut({ copies }: RunEntry, write: () => Promise<boolean>): Promise<boolean> {
    const mark = copies.mark(this.#jobsKey)
    const handedOut = await write()
    if (handedOut) copies.wrote(mark)
    return handedOut
  }
}
