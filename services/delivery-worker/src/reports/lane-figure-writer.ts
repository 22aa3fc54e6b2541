/**
 * Collects results of attempts for the figures that the API shows for a lane: the last success, the last failure, and
 * the number of attempts. No delivery waits for these figures. For each shard, at most one script a second writes them,
 * however many attempts end. With more than 200 busy subscriptions, the writes are further apart. If a write fails, its
 * results are dropped. Later attempts correct the figures.
 */
import type { AttemptResult } from '@fantail/contracts'
import { createStateLog, joinStates, type Logger, type ReportMember } from '@fantail/runtime'
import { type AttemptNote, type Lanes, passingTime } from '@fantail/store'
import type { AttemptEnd, Decided, EndReport } from '../attempts/attempt-end.ts'
import { type Outcome, resultState } from '../attempts/attempt-outcome.ts'
import type { CompiledSubscription } from '../topics/compiled-slice.ts'

/** Subscriptions whose results one write has. Past it: the next write has the others, five seconds later. */
const NOTED_PER_WRITE_MAX = 1_000
/**
 * Subscriptions whose results wait to be written. Past it: results of further subscriptions are left out of the
 * figures.
 */
const NOTES_WAITING_MAX = 20_000
const WRITE_EVERY_MS = 1_000
/** The next write is later by this much for each result, so a worker writes about 200 results a second at most. */
const MS_PER_RESULT = 5
/** The pause before the first write, so that attempts that end at about the same time are written together. */
const FIRST_WRITE_MS = 50

interface Note {
  shard: number
  attempts: number
  successes: number
  /** By passingTime.now(), like the others. */
  beganAt: number
  succeededAt: number | null
  failed: { at: number; statusCode: number | null; error: string | null } | null
  /** Failures since the last success. */
  failing: { inARow: number; since: number } | null
}

type Noted = Pick<CompiledSubscription, 'shard'> & { record: { id: string } }

export class LaneFigureWriter implements EndReport {
  readonly #lanes: Pick<Lanes, 'noteAttempts'>
  readonly #report: ReportMember
  readonly #notes = new Map<string, Note>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  /** When the next write may begin, by passingTime.now(). */
  #mayWriteAt = Number.NEGATIVE_INFINITY

  constructor(lanes: Pick<Lanes, 'noteAttempts'>, log: Logger) {
    this.#lanes = lanes
    this.#report = joinStates(createStateLog({ log, what: 'attempt_notes', initial: 'up' }))
  }

  /** An attempt that was not made says nothing about its endpoint. */
  ended({ subscription, followers, endedAt }: AttemptEnd, { result }: Outcome, { decision }: Decided): void {
    if (decision === 'wait') return
    const now = endedAt === undefined ? passingTime.now() : endedAt + passingTime.offsetMs
    if (decision === 'delivered') this.delivered(subscription, 1 + (followers?.length ?? 0), now)
    else this.failed(subscription, result)
  }

  /** Notes an attempt that delivered this many deliveries. `now`: when it ended, by passingTime.now(). */
  delivered(subscription: Noted, deliveries = 1, now = passingTime.now()): void {
    const note = this.#noteOf(subscription, now)
    if (!note) return
    note.attempts += deliveries
    note.successes += deliveries
    note.succeededAt = now
    note.failing = null
  }

  failed(subscription: Noted, result: AttemptResult): void {
    const now = passingTime.now()
    const note = this.#noteOf(subscription, now)
    if (!note) return
    note.attempts++
    note.failed = { at: now, ...resultState(result) }
    note.failing ??= { inARow: 0, since: now }
    note.failing.inARow++
  }

  /** Writes the results that wait. */
  async stop(): Promise<void> {
    await this.#writing
    clearTimeout(this.#timer)
    while (this.#notes.size > 0) await this.#write()
  }

  #noteOf({ record, shard }: Noted, now: number): Note | undefined {
    const known = this.#notes.get(record.id)
    if (known) return known
    if (this.#notes.size >= NOTES_WAITING_MAX) return undefined
    const ended = { succeededAt: null, failed: null, failing: null }
    const note = { shard, attempts: 0, successes: 0, beganAt: now, ...ended }
    this.#notes.set(record.id, note)
    this.#schedule(now)
    return note
  }

  #schedule(now: number): void {
    if (this.#timer || this.#writing) return
    const delayMs = Math.max(FIRST_WRITE_MS, this.#mayWriteAt - now)
    this.#timer = setTimeout(() => {
      this.#writing = this.#writeAndGoOn()
    }, delayMs)
  }

  async #writeAndGoOn(): Promise<void> {
    this.#timer = undefined
    await this.#write()
    this.#writing = undefined
    if (this.#notes.size > 0) this.#schedule(passingTime.now())
  }

  async #write(): Promise<void> {
    const now = passingTime.now()
    const batch = [...this.#notes].slice(0, NOTED_PER_WRITE_MAX)
    this.#mayWriteAt = now + Math.max(WRITE_EVERY_MS, batch.length * MS_PER_RESULT)
    for (const [id] of batch) this.#notes.delete(id)
    const byShard = Map.groupBy(batch, ([, { shard }]) => shard)
    const writes = [...byShard].map(([shard, notes]) =>
      this.#writeShard(
        shard,
        notes.map(([id, note]) => packNote(id, note, now)),
      ),
    )
    await Promise.all(writes)
  }

  async #writeShard(shard: number, notes: AttemptNote[]): Promise<void> {
    try {
      await this.#lanes.noteAttempts(shard, notes)
      this.#report(shard, 'up')
    } catch (error) {
      this.#report(shard, 'down', error)
    }
  }
}

function packNote(subscriptionId: string, note: Note, now: number): AttemptNote {
  const { attempts, successes, beganAt, succeededAt, failed, failing } = note
  return {
    subscriptionId,
    attempts,
    successes,
    beganMs: now - beganAt,
    succeededMs: succeededAt === null ? null : now - succeededAt,
    failed: failed && { ms: now - failed.at, statusCode: failed.statusCode, error: failed.error },
    failing: failing && { inARow: failing.inARow, ms: now - failing.since },
  }
}
