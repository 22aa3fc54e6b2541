/**
 * Reads the logs of FIFO topics that takes have lent to this worker (store: fifo-reading.ts), each until it is empty.
 *
 *   take ─▶ LogReaders: read ─▶ match (PlanCache) ─▶ move, which reads on ─▶ … ─▶ lanes
 *
 * One log has one reader at a time. A reader holds nothing but its claim: where it dies, Redis does not answer or the
 * process stops, the next one goes on from what is in the log. What cannot be read or matched is set aside before it
 * leaves: one message must not hold up a topic.
 */
import { createStateLog, type Logger, type TellState } from '@fantail/runtime'
import {
  type Counts,
  type FifoReading,
  type LogClaim,
  type LogEntry,
  type LogMoved,
  parseDeliveryId,
} from '@fantail/store'
import type { LaneBodies } from '../lane-bodies.ts'
import type { MessageContext } from '../message-context.ts'
import type { OutcomeRecorder } from '../outcome-recorder.ts'
import type { PlanCache } from '../plan-cache.ts'
import { type LogBatch, matchEntries, type Unmatchable } from './log-batch.ts'

const READERS_MAX = 64
const RETRY_MS = 200
/** Then the lease is over, and somebody else has the log or this worker is lent it anew. */
const TRY_FOR_MS = 3_000
/** A take tells when the log is due again. */
const AT_ONCE = 0

export interface LogReadersOptions {
  reading: Pick<FifoReading, 'read' | 'move' | 'letGo'>
  plans: Pick<PlanCache, 'topic' | 'sliceOf'>
  bodies: Pick<LaneBodies, 'read' | 'keep'>
  recorder: Pick<OutcomeRecorder, 'filtered' | 'moved' | 'unmatched'>
  counts: Pick<Counts, 'setAside'>
  log: Logger
  /** Lanes of the shard are due at this Redis time. */
  onDue(shard: number, at: number | null): void
}

export class LogReaders {
  readonly #options: LogReadersOptions
  readonly #tell: TellState
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(options: LogReadersOptions) {
    this.#options = options
    this.#tell = createStateLog({ log: options.log, what: 'fifo_logs', initial: 'up' })
  }

  /** How many logs more this worker could read. */
  get room(): number {
    return this.#stopped ? 0 : READERS_MAX - this.#running.size
  }

  /** Begins to read a log that a take has lent. */
  read(shard: number, claim: LogClaim): void {
    const reader = this.#read(shard, claim)
    this.#running.add(reader)
    void reader.finally(() => this.#running.delete(reader))
  }

  /** Resolves when every log is read or left to others. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #read(shard: number, claim: LogClaim): Promise<void> {
    const { reading, onDue } = this.#options
    try {
      let found = await this.#untilDone(() => reading.read(shard, claim))
      while (!this.#stopped && found.kind === 'moved' && found.entries.length > 0)
        found = await this.#moveOn(shard, claim, found.entries)
      if (found.kind !== 'moved') onDue(shard, AT_ONCE)
      else if (found.entries.length > 0) await reading.letGo(shard, claim)
    } catch (error) {
      this.#tell('down', error)
      onDue(shard, AT_ONCE)
    }
  }

  async #moveOn(shard: number, claim: LogClaim, entries: LogEntry[]): Promise<LogMoved> {
    const { reading, recorder, onDue } = this.#options
    const startedAt = performance.now()
    const contexts = await this.#contextsOf(claim, entries)
    const batch = await this.#untilDone(() => this.#match(shard, claim, contexts))
    for (const unmatchable of batch.unmatchable) await this.#setAsideWhole(unmatchable)
    const moved = await this.#untilDone(() => reading.move(shard, claim, batch.move))
    if (moved.kind !== 'moved') return moved
    for (const { context } of batch.unmatchable) recorder.unmatched(context)
    for (const { context, slice, parked, filtered, reasons } of batch.notes) {
      if (slice) recorder.filtered(slice.topic.name, reasons)
      if (slice) recorder.moved(context, slice, parked, filtered)
      else recorder.unmatched(context)
    }
    onDue(shard, moved.nextDueAt)
    const { topicArn } = claim
    const counts = { messages: batch.move.messages.length, deliveries: batch.deliveries }
    const durationMs = Math.round(performance.now() - startedAt)
    this.#options.log.info({ topicArn, ...counts, durationMs }, 'fifo.moved')
    return moved
  }

  /**
   * By the plan of this moment. Where that is of no topic, or of another one of the name, nothing is moved, which tells
   * whether the topic is gone or the plan was old.
   */
  async #match(
    shard: number,
    { topicArn, uid }: LogClaim,
    contexts: (MessageContext | Buffer)[],
  ): Promise<LogBatch> {
    const plan = await this.#options.plans.topic(topicArn)
    if (plan?.topic.uid !== uid) {
      await pause()
      return matchEntries(null, [])
    }
    const ref = plan.slices.find((slice) => slice.shard === shard)
    return matchEntries(ref ? await this.#options.plans.sliceOf(plan, ref) : null, contexts)
  }

  /** What cannot be read leaves the log with the others, by its id alone. */
  #contextsOf(claim: LogClaim, entries: LogEntry[]): Promise<(MessageContext | Buffer)[]> {
    const { bodies } = this.#options
    return Promise.all(
      entries.map(async ({ id, body }) => {
        const context = bodies.read(body)
        if (context === null || context instanceof Error) {
          await this.#untilDone(() => this.#setAside(claim, id, context))
          return id
        }
        bodies.keep(context)
        return context
      }),
    )
  }

  async #setAside({ topicArn }: LogClaim, id: Buffer, problem: Error | null): Promise<void> {
    const { messageId } = parseDeliveryId(id)
    const detail = problem === null ? 'its body is missing' : `its body cannot be read: ${problem.message}`
    await this.#options.counts.setAside({ detail, messageId, topicArn })
    this.#options.log.error({ messageId, topicArn, detail }, 'message.set_aside')
  }

  /** With its body, so that somebody can look at it and publish it again. */
  async #setAsideWhole({ context: { message }, error }: Unmatchable): Promise<void> {
    const { messageId, topicArn } = message
    const detail = `it cannot be matched: ${error instanceof Error ? error.message : String(error)}`
    await this.#untilDone(() => this.#options.counts.setAside({ detail, message }))
    this.#options.log.error({ messageId, topicArn, detail, err: error }, 'message.set_aside')
  }

  /** Every step is safe to repeat, and refused once another reader has the log. */
  async #untilDone<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (;;) {
      try {
        const value = await attempt()
        this.#tell('up')
        return value
      } catch (error) {
        this.#tell('down', error)
        if (this.#stopped || performance.now() - startedAt > TRY_FOR_MS) throw error
        await pause()
      }
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())))
}
