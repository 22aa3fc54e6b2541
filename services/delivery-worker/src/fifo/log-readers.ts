/**
 * Reads the logs of FIFO topics that takes have lent to this worker (store: fifo-reading.ts), each until it is empty.
 *
 *   take ─▶ LogReaders: read ─▶ match (PlanCache) ─▶ move, which reads on ─▶ … ─▶ lanes
 *
 * One log has one reader at a time. A reader holds nothing but its claim: where it dies, Redis does not answer or the
 * process stops, the next one goes on from what is in the log. What cannot be decoded or matched is quarantined before it
 * leaves: one message must not hold up a topic. While the quarantine is full the log waits.
 */
import { createStateLog, type Logger, type TellState } from '@fantail/runtime'
import {
  type FifoReading,
  type LogClaim,
  type LogEntry,
  type LogMoved,
  type NewEntry,
  parseDeliveryId,
  type Quarantined,
} from '@fantail/store'
import type { LaneBodies, UnreadableBody } from '../lane-bodies.ts'
import type { MessageContext } from '../message-context.ts'
import type { OutcomeRecorder } from '../outcome-recorder.ts'
import type { PlanCache } from '../plan-cache.ts'
import { type LogBatch, matchEntries, type Unmatchable } from './log-batch.ts'

const READERS_MAX = 64
const RETRY_MS = 200
/** Then the lease is over, and somebody else has the log or this worker is lent it anew. */
const TRY_FOR_MS = 3_000
/** While messages are matched: three times within a lease. */
const RENEW_MS = 1_000
/** A take tells when the log is due again. */
const AT_ONCE = 0

export interface LogReadersOptions {
  reading: Pick<FifoReading, 'read' | 'move' | 'letGo'>
  plans: Pick<PlanCache, 'topic' | 'sliceOf' | 'matchSlice'>
  bodies: Pick<LaneBodies, 'read' | 'keep'>
  recorder: Pick<OutcomeRecorder, 'filtered' | 'moved' | 'unmatched'>
  /** Keeps what cannot be decoded or matched. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
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
    for (const unmatchable of batch.unmatchable) await this.#quarantineUnmatchable(unmatchable)
    const moved = await this.#untilDone(() => reading.move(shard, claim, batch.move))
    if (moved.kind !== 'moved') return moved
    for (const { context } of batch.unmatchable) recorder.unmatched(context)
    for (const { context, slice, reasons, ...where } of batch.notes) {
      if (slice) recorder.filtered(slice.topic.name, reasons)
      if (slice) recorder.moved(context, slice, where)
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
  async #match(shard: number, claim: LogClaim, contexts: (MessageContext | Buffer)[]): Promise<LogBatch> {
    const { topicArn, uid } = claim
    const plan = await this.#options.plans.topic(topicArn)
    const current = plan?.topic.uid === uid ? plan : null
    if (!current) await pause()
    const ref = current?.slices.find((slice) => slice.shard === shard)
    const slice = current && ref ? await this.#options.plans.sliceOf(current, ref) : null
    const lease = this.#keepLease(shard, claim)
    try {
      const { plans } = this.#options
      return await matchEntries(slice, current ? contexts : [], (...asked) =>
        plans.matchSlice(...asked, lease.isLost),
      )
    } finally {
      lease.letGo()
    }
  }

  /** Costly filters may take longer than the lease lasts. A read renews it; where that fails, the next move tells. */
  #keepLease(shard: number, claim: LogClaim): { isLost(): boolean; letGo(): void } {
    let isLost = false
    const timer = setInterval(() => {
      this.#options.reading.read(shard, claim).then(
        ({ kind }) => {
          if (kind !== 'moved') isLost = true
        },
        (error: unknown) => this.#tell('down', error),
      )
    }, RENEW_MS)
    return { isLost: () => isLost, letGo: () => clearInterval(timer) }
  }

  /** What cannot be read leaves the log with the others, by its id alone. */
  #contextsOf(claim: LogClaim, entries: LogEntry[]): Promise<(MessageContext | Buffer)[]> {
    const { bodies } = this.#options
    return Promise.all(
      entries.map(async ({ id, body }) => {
        const context = bodies.read(body)
        if (context === null || context instanceof Error) {
          await this.#quarantine(unreadableEntry(claim, id, context))
          return id
        }
        bodies.keep(context)
        return context
      }),
    )
  }

  #quarantineUnmatchable({ context, error }: Unmatchable): Promise<void> {
    const { messageId, topicArn } = context.message
    const detail = `it cannot be matched: ${error instanceof Error ? error.message : String(error)}`
    const entry = { id: `message.${messageId}`, messageId, topicArn, raw: context.body }
    return this.#quarantine({ ...entry, reason: 'messageUnmatchable', detail })
  }

  #quarantine(entry: NewEntry): Promise<void> {
    return this.#untilDone(async () => {
      if ((await this.#options.quarantine(entry)) === 'full') throw new Error('the quarantine is full')
    })
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

function unreadableEntry({ topicArn }: LogClaim, id: Buffer, body: UnreadableBody | null): NewEntry {
  const { messageId } = parseDeliveryId(id)
  const entry = { id: `message.${messageId}`, messageId, topicArn }
  if (body === null) return { ...entry, reason: 'bodyMissing', detail: 'its body is missing', raw: '' }
  const detail = `its body cannot be decoded: ${body.message}`
  return { ...entry, reason: 'bodyUnreadable', detail, raw: body.raw }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS * (0.5 + Math.random())))
}
