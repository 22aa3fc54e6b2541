/**
 * Runs a job again whose earlier starts did not end, because a worker was killed or frozen, because Redis did not
 * answer, or because matching a message threw an error.
 *
 *   start 1, 2   all messages at once, first attempts straight from the job
 *     │ a start finds that an earlier one, other than the first, had begun
 *     ▼
 *   isolating    one message at a time; all deliveries go to their lanes, where leases bound each attempt
 *                  │ a start finds a message that was under way when earlier starts ended, for the second time or more
 *                  ▼
 *   isolated     runs after all other messages of the job, alone, each try after a longer delay (1 s to 5 min);
 *                of several isolated messages, the one at which the fewest starts have failed comes first
 *
 * Every start but the first opens the checkpoint of the job before it does anything else, so that later starts know
 * that it has begun. A start may never begin, because its worker was stopped or lost the job's lock before. It has then
 * killed no worker. However many such starts there are, they make no run isolating, and isolate no message.
 *
 * A message that throws in an isolating run is isolated at once, and its job continues with the others.
 *
 * A message is under way only while it is matched and parked, which takes milliseconds. A freeze or an outage therefore
 * rarely isolates a message, and a message that is isolated wrongly is only delayed. A readable message is never
 * dropped here, however often workers die at it. Only its topic's retention ends it.
 *
 * The notes are in the job's own checkpoint, and are written before the message is handled. `under-way` is the index of
 * the message. `failed.<index>` counts the starts that ended while it was under way. `delayed.<index>` is the count for
 * which it has already waited.
 */
import { NUMBER, shardOf } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { JobRun } from '../runs/job-run.ts'
import type { Checkpoints } from './checkpoints.ts'

/** A run isolates if this start of its job, or a later one, has begun. The first start leaves no trace. */
const ISOLATING_FROM_BEGUN = 2
const { ISOLATED_FROM, ISOLATION_MS_MAX, ISOLATION_MS_MIN } = NUMBER

const UNDER_WAY = 'under-way'
const FAILED = 'failed.'
const DELAYED = 'delayed.'
const NOBODY = ''

interface IsolatingRunsOptions {
  checkpoints: Pick<Checkpoints, 'restore' | 'note'>
  start(run: JobRun, index: number, context: MessageContext): Promise<void>
  /** Like `start`, for an isolated message. If it is older than its topic's retention, it is not started. */
  startIsolated(run: JobRun, index: number, context: MessageContext): Promise<void>
  /** Called if the message has thrown an error. */
  threw(context: MessageContext, error: unknown): void
  /** Called when an isolated message waits for its next try. */
  waits(context: MessageContext, failedStarts: number, delayMs: number): Promise<void>
}

/**
 * Whether starts of the job have failed at one of its messages. It uses only the part of the checkpoint that has been
 * read.
 */
export function hasFailedStarts({ jobName, restored }: JobRun): boolean {
  const failed = `${shardOf(jobName)}:${FAILED}`
  return [...restored.keys()].some((name) => name.startsWith(failed))
}

/** 1 s, 2 s, 4 s … up to 5 minutes. */
export function isolationMs(failedStarts: number): number {
  return Math.min(ISOLATION_MS_MAX, ISOLATION_MS_MIN * 2 ** (failedStarts - ISOLATED_FROM))
}

export class IsolatingRuns {
  readonly #options: IsolatingRunsOptions

  constructor(options: IsolatingRunsOptions) {
    this.#options = options
  }

  /** Must be called when a start begins, unless it is the first of its job. */
  async isNeeded(run: JobRun): Promise<boolean> {
    await this.#options.checkpoints.restore(run, shardOf(run.jobName))
    return run.begunStart >= ISOLATING_FROM_BEGUN
  }

  /**
   * Resolves with the delay (ms) before the job must be started again. undefined: the job has ended, or the run is
   * lost.
   */
  async run(run: JobRun): Promise<number | undefined> {
    const { start, startIsolated } = this.#options
    const failed = await this.#failedStarts(run)
    const messages = [...run.messages.entries()]
    const isIsolated = (index: number) => (failed.get(index) ?? 0) >= ISOLATED_FROM
    for (const [index, context] of messages)
      if (!isIsolated(index)) await this.#runOne(run, index, failed, () => start(run, index, context))
    const failedAt = ([index]: [number, MessageContext]) => failed.get(index) ?? 0
    // Isolated messages with the fewest failed starts come first. So a message that kills every worker does not delay
    // one that was isolated wrongly.
    const isolated = messages.filter(([index]) => isIsolated(index)).sort((a, b) => failedAt(a) - failedAt(b))
    for (const [index, context] of isolated) {
      if (run.lost) break
      const delayMs = await this.#delay(run, index, context, failed.get(index) ?? 0)
      if (delayMs !== undefined) return delayMs
      if (!(await this.#runOne(run, index, failed, () => startIsolated(run, index, context))))
        return this.#delay(run, index, context, failed.get(index) ?? 0)
    }
    // If the job cannot be completed now, it starts again. That start must not count the last message as failed.
    await this.#note(run, [[UNDER_WAY, NOBODY]])
    return undefined
  }

  /** Returns false if the message has thrown an error. */
  async #runOne(
    run: JobRun,
    index: number,
    failed: Map<number, number>,
    start: () => Promise<void>,
  ): Promise<boolean> {
    if (run.lost) return true
    await this.#note(run, [[UNDER_WAY, String(index)]])
    if (run.lost) return true
    const ended = await this.#attempt(run, index, start)
    await run.whenUnitsEnded()
    if (ended || run.lost) return true
    // If a process died, the message may not be the cause. If the message throws an error, it certainly is.
    failed.set(index, Math.max(ISOLATED_FROM, (failed.get(index) ?? 0) + 1))
    await this.#note(run, [
      [`${FAILED}${index}`, String(failed.get(index))],
      [UNDER_WAY, NOBODY],
    ])
    return false
  }

  async #attempt(run: JobRun, index: number, start: () => Promise<void>): Promise<boolean> {
    try {
      await start()
      return true
    } catch (error) {
      const context = run.messages[index]
      if (context) this.#options.threw(context, error)
      return false
    }
  }

  /** Failed starts by index. The message that was under way in the previous start is counted. */
  async #failedStarts(run: JobRun): Promise<Map<number, number>> {
    const shard = shardOf(run.jobName)
    const failed = new Map<number, number>()
    for (const [name, value] of run.restored) {
      const [, index] = name.split(`${shard}:${FAILED}`)
      if (index) failed.set(Number(index), Number(value))
    }
    const underWay = String(run.restored.get(`${shard}:${UNDER_WAY}`) ?? NOBODY)
    const index = Number.parseInt(underWay, 10)
    if (Number.isNaN(index)) return failed
    failed.set(index, (failed.get(index) ?? 0) + 1)
    const count = String(failed.get(index))
    await this.#note(run, [
      [`${FAILED}${index}`, count],
      [UNDER_WAY, NOBODY],
    ])
    return failed
  }

  /**
   * The time that the isolated message must still wait. Undefined: it has waited long enough since its latest failed
   * start.
   */
  async #delay(
    run: JobRun,
    index: number,
    context: MessageContext,
    failedStarts: number,
  ): Promise<number | undefined> {
    const name = `${DELAYED}${index}`
    const waitedFor = Number(run.restored.get(`${shardOf(run.jobName)}:${name}`) ?? 0)
    if (waitedFor === failedStarts) return undefined
    const delayMs = isolationMs(failedStarts)
    await this.#note(run, [
      [name, String(failedStarts)],
      [UNDER_WAY, NOBODY],
    ])
    await this.#options.waits(context, failedStarts, delayMs)
    return delayMs
  }

  #note(run: JobRun, notes: [name: string, text: string][]): Promise<void> {
    return this.#options.checkpoints.note(run, shardOf(run.jobName), notes)
  }
}
