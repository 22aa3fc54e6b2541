/**
 * Jobs whose data stays the text that Redis stores. BullMQ would encode the data once more than needed, and decode it
 * before its checksums are verified.
 */
import { Job, type JobJson, Queue } from 'bullmq'

export class JobText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** BullMQ encodes the data of a new job, and `asJSON` replaces the result. */
  toJSON(): null {
    return null
  }
}

export type TextJob = Job<JobText, void>

class JobOfText extends Job<JobText, void> {
  static override fromJSON: typeof Job.fromJSON = (queue, { data, ...json }, id) => {
    const job = Job.fromJSON.call(JobOfText, queue, { ...json, data: '' }, id)
    job.data = new JobText(data)
    return job as never
  }

  override asJSON(): JobJson {
    return { ...super.asJSON(), data: this.data.text }
  }
}

/** For the `Job` of a queue or worker. */
export const TEXT_JOB = JobOfText as unknown as typeof Job

export class TextQueue extends Queue<JobText> {
  protected override get Job(): typeof Job {
    return TEXT_JOB
  }
}
