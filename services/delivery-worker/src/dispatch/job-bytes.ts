/** Bounds the sum of the message texts of all jobs that a worker runs or fetches. */

/** @limit memory (worker) Message text of jobs that a worker runs or fetches. Past it: no further job is fetched. */
const JOB_BYTES_MAX = 67_108_864
/** The most text of one job, because publishers write no larger groups (group-commit.ts). */
const ONE_JOB_BYTES_MAX = 1_048_576
/**
 * The expected text of the next jobs falls to this share with each job that begins, unless that job has more text. It
 * begins with the most that a job can have. After about a hundred small jobs it no longer limits the fetches.
 */
const EXPECTED_TEXT_KEPT = 0.9

export class JobBytes {
  #running = 0
  #fetches = 0
  /** The text that a job being fetched is expected to have. */
  #expected = ONE_JOB_BYTES_MAX

  /** Called with 1 when a command is sent that may bring a job, and with -1 at its reply. */
  fetching(change: 1 | -1): void {
    this.#fetches += change
  }

  begin(bytes: number): void {
    this.#running += bytes
    this.#expected = Math.max(bytes, this.#expected * EXPECTED_TEXT_KEPT)
  }

  end(bytes: number): void {
    this.#running -= bytes
  }

  get hasCapacity(): boolean {
    return this.#running + this.#fetches * this.#expected < JOB_BYTES_MAX
  }
}
