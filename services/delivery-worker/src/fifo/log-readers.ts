/**
 * Reads the FIFO logs that takes have lent to this worker (store: fifo-reading.ts), each until it is empty.
 *
 * take ─▶ LogReaders: read ─▶ match (SnapshotCache) ─▶ move, which reads on ─▶ … ─▶ lanes
 *
 * A log has one reader at a time. A reader keeps only its claim in memory, so the next reader can continue from the
 * log. This happens if a reader dies, if Redis does not answer, or if the process stops. If a message cannot be decoded
 * or matched, it goes to the quarantine and then leaves the log, so it does not stop the topic. While the quarantine is
 * full, the log waits.
 *
 * If readers die while they handle a message, the message and its group are moved to a separate log (isolated). That
 * log is lent and read like any other. The message stays there until it is delivered or its topic's retention ends. If
 * the key that opens a message is missing, its group waits in such a log too, and other groups go on.
 */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import {
  type FifoReading,
  type LogClaim,
  type LogEntry,
  type LogMoved,
  type NewEntry,
  QUARANTINE_BASE,
  type Quarantined,
  readMessage,
  SealKeyError,
  type ServerMarks,
} from '@fantail/store'
import { type LaneBodies, UnreadableBody } from '../bodies/lane-bodies.ts'
import type { MessageKeeping } from '../kept/message-keeping.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { IsolationNotes } from '../reports/isolation-notes.ts'
import type { MissingKeys } from '../reports/missing-keys.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import { type LogBatch, unmatchableEntry, unreadableEntry } from './log-batch.ts'
import { LogMatcher, type LogMatcherOptions } from './log-matcher.ts'

/** FIFO logs that a worker reads at a time. Past it: the log stays due for other workers. */
const READERS_MAX = 64
const LOG_RETRY_MS = 200
/** A lease lasts three times as long. */
const RENEW_MS = 1_000
/**
 * How long a command is tried. After this time the lease has ended. Another worker has the log then, or this one gets
 * it again.
 */
const TRY_FOR_MS = 3_000
/** No pause, because a take reports when the log is due again. */
const NO_PAUSE_MS = 0

export interface LogReadersOptions {
  reading: Pick<FifoReading, 'read' | 'move' | 'letGo' | 'release' | 'postpone'>
  snapshots: LogMatcherOptions['snapshots']
  bodies: Pick<LaneBodies, 'read' | 'cache'>
  recorder: Pick<OutcomeRecorder, 'filtered' | 'moved' | 'unmatched' | 'expiredWhole'>
  locked: Pick<MissingKeys, 'report'>
  servers: Pick<ServerMarks, 'mark'>
  /** Puts a message that cannot be decoded or matched into the quarantine. Safe to repeat. */
  quarantine(entry: NewEntry): Promise<Quarantined>
  isolation: Pick<IsolationNotes, 'begin' | 'end'>
  /** Writes messages into the rings of their topics. */
  keeping: Pick<MessageKeeping, 'keep'>
  log: Logger
  /** Epoch ms by Redis's clock. */
  now(): number
  /** Called when lanes of the shard are due at this Redis time. */
  onDue(shard: number, at: number | null): void
}

interface Contexts {
  contexts: (MessageContext | Buffer)[]
  /** Set if the key of the first message is missing. */
  locked?: { first: MessageContext; ids: Buffer[] }
}

type Found = Extract<LogMoved, { kind: 'moved' }>

export class LogReaders {
  readonly #options: LogReadersOptions
  readonly #matcher: LogMatcher
  readonly #report: ReportState
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(options: LogReadersOptions) {
    this.#options = options
    this.#report = createStateLog({ log: options.log, what: 'fifo_logs', initial: 'up' })
    this.#matcher = new LogMatcher({ ...options, pause })
  }

  /** How many more logs this worker could read. */
  get capacity(): number {
    return this.#stopped ? 0 : READERS_MAX - this.#running.size
  }

  get busy(): number {
    return this.#running.size
  }

  /** Begins to read a log that a take has lent to this worker. */
  read(shard: number, claim: LogClaim): void {
    const reader = this.#read(shard, claim)
    this.#running.add(reader)
    void reader.finally(() => this.#running.delete(reader))
  }

  /** Resolves when every log is empty, or left to other readers. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #read(shard: number, claim: LogClaim): Promise<void> {
    const { reading, onDue } = this.#options
    try {
      let found = await this.#untilDone(() => reading.read(shard, claim))
      if (found.kind === 'moved') await this.#noteIsolated(found)
      while (!this.#stopped && found.kind === 'moved' && found.entries.length > 0) {
        const lease = this.#keepLease(shard, claim)
        found = await this.#moveOn(shard, claim, found, lease.isLost).finally(lease.letGo)
      }
      if (found.kind !== 'moved') onDue(shard, NO_PAUSE_MS)
      else if (found.entries.length > 0) await reading.letGo(shard, claim)
      else onDue(shard, found.nextDueAt)
    } catch (error) {
      this.#report('down', error)
      await this.#release(shard, claim)
      onDue(shard, NO_PAUSE_MS)
    }
  }

  async #moveOn(shard: number, claim: LogClaim, found: Found, isLost: () => boolean): Promise<LogMoved> {
    const { reading, onDue } = this.#options
    const startedAt = performance.now()
    const mark = this.#options.servers.mark(QUARANTINE_BASE)
    const { contexts, locked } = await this.#contextsOf(claim, found.entries)
    const isolated = isIsolated(claim, found) ? contexts[0] : undefined
    const batch = await this.#untilDone(() =>
      locked
        ? this.#matcher.matchLocked(claim, locked.first)
        : this.#matcher.match(shard, claim, contexts, isolated, isLost),
    )
    if (!batch) return this.#untilDone(() => reading.postpone(shard, claim, locked?.ids ?? []))
    await Promise.all(batch.unmatchable.map((one) => this.#quarantine(unmatchableEntry(one))))
    const isReadable =
      batch.unmatchable.length === 0 && contexts.every((one) => one instanceof MessageContext)
    // The ring has the order of the log. The next reader repeats this write if this one dies.
    const { toKeep = [] } = batch
    if (toKeep.length > 0) await this.#untilDone(() => this.#options.keeping.keep(toKeep))
    const moved = await this.#untilDone(async () => {
      // Redis may have lost the entry in the quarantine. The message then stays in the log, and the next reader adds
      // the entry again.
      if (!isReadable && !mark.holds()) throw new Error('a connection to Redis has closed')
      return reading.move(shard, claim, batch.move)
    })
    if (moved.kind !== 'moved') return moved
    this.#record(batch)
    if (isolated instanceof MessageContext && batch.move.messages.length > 0)
      await this.#options.isolation.end(isolated)
    onDue(shard, moved.nextDueAt)
    const { topicArn, group } = claim
    const counts = { messages: batch.move.messages.length, deliveries: batch.deliveries }
    const durationMs = Math.round(performance.now() - startedAt)
    this.#options.log.info({ topicArn, group, ...counts, durationMs }, 'fifo.moved')
    return moved
  }

  /**
   * Costly filters, or many answers of a slow Redis, may take longer than the lease lasts. It is then renewed by reads.
   * If that fails, the next move reports the failure.
   */
  #keepLease(shard: number, claim: LogClaim): { isLost(): boolean; letGo(): void } {
    let isLost = false
    const timer = setInterval(() => {
      this.#options.reading.read(shard, claim).then(
        ({ kind }) => {
          if (kind !== 'moved') isLost = true
        },
        (error: unknown) => this.#report('down', error),
      )
    }, RENEW_MS)
    return { isLost: () => isLost, letGo: () => clearInterval(timer) }
  }

  #record({ unmatchable, notes, expired }: LogBatch): void {
    const { recorder } = this.#options
    for (const { context } of unmatchable) recorder.unmatched(context)
    for (const { context, slice, reasons, ...where } of notes) {
      if (slice) recorder.filtered(slice.topic.name, reasons)
      if (slice) recorder.moved(context, slice, where)
      else recorder.unmatched(context)
    }
    if (expired) recorder.expiredWhole(expired.topic, expired.context)
  }

  /** An unreadable message is handled when it is read, and its entry in the quarantine explains it. */
  async #noteIsolated({ isolated }: Found): Promise<void> {
    if (!isolated) return
    const context = this.#options.bodies.read(isolated.body, isolated.id.toString('latin1'))
    if (context instanceof MessageContext)
      await this.#options.isolation.begin(context, isolated.failedStarts, isolated.delayMs)
  }

  /** Ends the reader after a failure. Its process lives, so the failure is not counted against the message. */
  async #release(shard: number, claim: LogClaim): Promise<void> {
    try {
      await this.#options.reading.release(shard, claim)
    } catch (error) {
      this.#report('down', error)
    }
  }

  /**
   * Decodes the messages. An unreadable entry goes to the quarantine, and leaves the log with the others. Only its id
   * is known. Messages before the first one whose key is missing are moved first.
   */
  async #contextsOf(claim: LogClaim, entries: LogEntry[]): Promise<Contexts> {
    const { bodies } = this.#options
    const reads = entries.map(({ id, body }) => ({
      id,
      body,
      context: bodies.read(body, id.toString('latin1')),
    }))
    const lockedAt = reads.findIndex(({ context }) => context instanceof SealKeyError)
    const [first] = reads
    if (lockedAt === 0 && first?.body) {
      const ids = reads.flatMap(({ id, context }) => {
        if (!(context instanceof SealKeyError)) return []
        this.#options.locked.report(claim.topicArn, context)
        return [id]
      })
      return { contexts: [], locked: { first: new MessageContext(readMessage(first.body)), ids } }
    }
    const contexts = await Promise.all(
      reads.slice(0, lockedAt < 0 ? reads.length : lockedAt).map(async ({ id, context }) => {
        if (context instanceof SealKeyError) return id
        if (context === null || context instanceof UnreadableBody) {
          await this.#quarantine(unreadableEntry(claim, id, context))
          return id
        }
        bodies.cache(context)
        return context
      }),
    )
    return { contexts }
  }

  #quarantine(entry: NewEntry): Promise<void> {
    return this.#untilDone(async () => {
      if ((await this.#options.quarantine(entry)) === 'full') throw new Error('the quarantine is full')
    })
  }

  /** Repeats a command of Redis until it succeeds. Redis refuses it if another reader has the log now. */
  async #untilDone<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (;;) {
      try {
        const value = await attempt()
        this.#report('up')
        return value
      } catch (error) {
        this.#report('down', error)
        if (this.#stopped || performance.now() - startedAt > TRY_FOR_MS) throw error
        await pause()
      }
    }
  }
}

/** Whether readers have died at the first message of an isolated group. */
function isIsolated({ group }: LogClaim, { failedStarts = 0 }: Found): boolean {
  return group !== undefined && failedStarts > 0
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOG_RETRY_MS * (0.5 + Math.random())))
}
