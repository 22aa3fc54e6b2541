/**
 * A BullMQ worker that begins each job as soon as it is fetched. BullMQ's own loop fetches one job per round trip, and
 * begins none while it finds more. Behind a slow Redis, the locks of fetched jobs would end before their jobs begin,
 * because only the locks of running jobs are renewed.
 *
 * Here BullMQ's loop only fetches. For this loop, a job has ended as soon as the worker has capacity for another one.
 * While round trips are long and jobs wait, further fetches run beside the loop's own. The end of each job fetches the
 * next one, as BullMQ does it.
 */
import { type Job, Worker, type WorkerOptions } from 'bullmq'

/** While a fetch is quicker than this, one fetch at a time keeps a worker busy. More would only find empty queues. */
const QUICK_FETCH_MS = 4

export interface Capacity {
  /** The most jobs that run at a time. */
  jobsMax: number
  /** False: no further job is fetched for now, unless none is running. It is asked whenever a job starts or ends. */
  hasCapacity?: (() => boolean) | undefined
  /** Called with 1 when a command is sent that may bring a job, and with -1 at its reply. */
  fetching?: ((change: 1 | -1) => void) | undefined
  /** Class of the jobs. Default: BullMQ's. */
  jobClass?: typeof Job | undefined
}

export class PromptWorker<T> extends Worker<T, void> {
  readonly #capacity: Capacity
  /** Fetches beside the loop's own, and jobs with those that follow them. */
  readonly #work = new Set<Promise<void>>()
  #jobs = 0
  #fetches = 0
  /** How many fetches may run beside the loop's own. They double while all of them find jobs. */
  #fetchesMax = 0
  #fetchMs = 0
  #tokens = 0
  #begin: (() => void) | undefined

  constructor(
    name: string,
    process: (job: Job<T, void>, token?: string) => Promise<void>,
    options: Omit<WorkerOptions, 'concurrency'>,
    capacity: Capacity,
  ) {
    super(name, process, { ...options, concurrency: 1 })
    this.#capacity = capacity
  }

  /** A queue may have a class of its own for its jobs (text-jobs.ts). */
  protected override get Job(): typeof Job {
    return this.#capacity?.jobClass ?? super.Job
  }

  /** BullMQ's loop calls this with a job that it has fetched, and fetches the next one when the promise resolves. */
  override processJob(job: Job<T, void>, token: string): Promise<void> {
    const done = this.#keep(this.#run(job, token))
    // A worker that closes waits for its jobs.
    if (this.closing) return done
    // The loop of a paused worker ends, and the resumed worker begins another.
    if (this.paused) return Promise.resolve()
    this.#fetchBeside()
    if (this.#mayFetch()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#begin = resolve
    })
  }

  /**
   * A loop that waits when the worker is paused fetches one job all the same. It has taken the queue's sign that a job
   * waits, so no other idle worker would ask for this job soon.
   */
  override async moveToActive(token: string, name?: string): Promise<Job<T, void>> {
    const since = performance.now()
    this.#capacity.fetching?.(1)
    try {
      const job = await super.moveToActive(token, name)
      this.#fetchMs = performance.now() - since
      if (!job) this.#fetchesMax = 0
      return job
    } finally {
      this.#capacity.fetching?.(-1)
    }
  }

  /** Locks are renewed, and ends written, until all jobs have ended. */
  override async close(force = false): Promise<void> {
    if (!this.closing) await this.pause(true)
    while (this.#work.size > 0) await Promise.all(this.#work)
    return super.close(force)
  }

  #fetchBeside(): void {
    this.#fetchesMax = Math.min(2 * this.#fetchesMax + 1, Math.floor(this.#fetchMs / QUICK_FETCH_MS))
    while (this.#fetches < this.#fetchesMax && this.#mayFetch()) this.#keep(this.#fetch())
  }

  #mayFetch(): boolean {
    const { jobsMax, hasCapacity } = this.#capacity
    const jobs = this.#jobs + this.#fetches
    return jobs === 0 || (jobs < jobsMax && hasCapacity?.() !== false)
  }

  async #fetch(): Promise<void> {
    const token = `${this.id}:beside-${this.#tokens++}`
    this.#fetches++
    const job = await this.moveToActive(token, this.opts.name)
      .catch((error: Error) => void this.emit('error', error))
      .finally(() => {
        this.#fetches--
      })
    if (job) await this.#run(job, token)
    else this.#mayGoOn()
  }

  /** Runs the job, and those that are fetched as it ends. */
  async #run(first: Job<T, void>, token: string): Promise<void> {
    this.#jobs++
    try {
      let job: Job<T, void> | undefined = first
      while (job) job = await this.#runOne(job, token)
    } catch (error) {
      this.emit('error', error as Error)
    } finally {
      this.#jobs--
      this.#mayGoOn()
    }
  }

  /** Returns the job that is fetched as this one ends. */
  async #runOne(job: Job<T, void>, token: string): Promise<Job<T, void> | undefined> {
    let follows = false
    const announce = (does: boolean) => {
      if (does !== follows) this.#capacity.fetching?.(does ? 1 : -1)
      follows = does
    }
    // BullMQ asks again whenever it repeats the end after an error.
    const mayFollow = () => {
      announce(false)
      announce(this.#mayFollow())
      return follows
    }
    try {
      return (await super.processJob(job, token, mayFollow)) as Job<T, void> | undefined
    } finally {
      announce(false)
    }
  }

  /** Whether the end of a job may fetch the next one. The ended job still counts. */
  #mayFollow(): boolean {
    this.#jobs--
    const may = this.#mayFetch()
    this.#jobs++
    return may
  }

  #mayGoOn(): void {
    if (!this.#begin || !this.#mayFetch()) return
    this.#begin()
    this.#begin = undefined
  }

  #keep(work: Promise<void>): Promise<void> {
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
    return work
  }
}
