/**
 * The runs of one dispatch queue that are under way in this process, and ended runs whose jobs BullMQ is completing. A
 * job is completed only while its run's copies exist (run-copies.ts).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from '@fantail/store'
import type { CompletionGuard } from '../bullmq/completion-guard.ts'
import type { RunEnd, RunId } from './dispatch-run.ts'
import type { RunCopies } from './run-copies.ts'

/**
 * Ended runs that are remembered until BullMQ has completed their jobs. Past it: the oldest is forgotten, and its
 * checkpoints expire after a day.
 */
const ENDED_MAX = 10_000
const PROVE_RETRY_MS = 200
/** Time for which a completion waits until Redis has proved the copies. Past it: the job is started again. */
const PROVE_MS_MAX = 3_000

export interface RunEntry {
  id: string
  /** When the job was added (epoch ms). A Redis that has lost its latest writes may give the job's number again. */
  addedAt: number
  /**
   * Only the name and the copies are kept, because the entry of a job that could not be completed stays for a long
   * time.
   */
  run: RunId
  /** The lock token of the latest start. */
  token: string
  /** Number of the job's latest start. It is higher than the run's fence if that start has adopted the run. */
  starts: number
  since: number
  /** False for a part with nothing to do. */
  begun: boolean
  lost: boolean
  copies: RunCopies
  done: Promise<RunEnd>
}

type Start = Pick<RunEntry, 'id' | 'addedAt' | 'starts'>

export class RunEntries implements CompletionGuard {
  readonly #running = new Map<string, RunEntry>()
  readonly #ended = new Map<string, RunEntry>()
  readonly #onError: (error: Error) => void

  /** `onError`: called each time that Redis cannot be asked about copies yet. */
  constructor(onError: (error: Error) => void) {
    this.#onError = onError
  }

  get running(): ReadonlyMap<string, RunEntry> {
    return this.#running
  }

  /** The earlier run that this start of the job continues. undefined: the start begins a new run. */
  adoptedBy(start: Start): RunEntry | undefined {
    const known = this.#running.get(start.id) ?? this.#ended.get(start.id)
    return known && isNextStart(known, start) ? known : undefined
  }

  begin(entry: RunEntry): void {
    this.#running.set(entry.id, entry)
  }

  leave(entry: RunEntry): void {
    if (this.#running.get(entry.id) === entry) this.#running.delete(entry.id)
  }

  /**
   * Keeps the run until BullMQ says that the job is completed. If the job went to another worker, BullMQ never says so.
   */
  remember(entry: RunEntry): void {
    const [oldest] = this.#ended.keys()
    if (oldest !== undefined && this.#ended.size >= ENDED_MAX) this.#ended.delete(oldest)
    this.#ended.set(entry.id, entry)
  }

  /** Removes and returns the run of a completed job. */
  forget(id: string): RunEntry | undefined {
    const entry = this.#ended.get(id)
    this.#ended.delete(id)
    return entry
  }

  mayComplete(id: string, sentOn: Redis): boolean {
    const entry = this.#ended.get(id)
    return !entry || (!entry.lost && entry.copies.hold(sentOn))
  }

  async prove(id: string, sentOn: Redis): Promise<void> {
    const entry = this.#ended.get(id)
    if (entry) await this.proveCopies(entry, sentOn, PROVE_MS_MAX)
  }

  /**
   * Waits until the run's copies are proven, for at most `forMs`. Rejects if the run is lost, or if Redis does not
   * answer in time.
   */
  async proveCopies(entry: RunEntry, sentOn?: Redis, forMs = Number.POSITIVE_INFINITY): Promise<void> {
    const until = performance.now() + forMs
    for (;;) {
      const isProven = entry.lost ? false : await this.#isProven(entry, sentOn, performance.now() > until)
      if (isProven === undefined) {
        await delay(PROVE_RETRY_MS)
        continue
      }
      if (isProven) return
      entry.lost = true
      throw new Error('Redis may have lost what the run wrote: the job starts again')
    }
  }

  /** undefined: Redis does not answer, or the connections lead to different servers. */
  async #isProven({ copies }: RunEntry, sentOn: Redis | undefined, isLast: boolean) {
    try {
      const isProven = await copies.prove(sentOn)
      if (!isProven) await copies.saveSettled(sentOn)
      return isProven
    } catch (error) {
      if (isLast) throw error
      this.#onError(error as Error)
      return undefined
    }
  }
}

/**
 * Whether this start of the job may continue a run of this process that runs or has just ended. That is the case if its
 * lock expired, or if its completion did not reach Redis. No other worker may have started the job in between. A new
 * run would attempt everything a second time.
 */
function isNextStart(known: RunEntry, { addedAt, starts }: Start): boolean {
  return known.begun && !known.lost && addedAt === known.addedAt && starts === known.starts + 1
}
