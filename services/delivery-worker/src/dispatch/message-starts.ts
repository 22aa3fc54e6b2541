/**
 * Starts the messages of a run. A message whose idempotency key belongs to another publish is dropped. The others go to
 * their slices.
 */
import type { Message } from '@fantail/contracts'
import type { DispatchPart } from '@fantail/jobs'
import { type Idempotency, type SliceRef, UnreadableRecordError, underTopic } from '@fantail/store'
import { hasRing, keptForm } from '../kept/message-keeping.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { IsolationNotes } from '../reports/isolation-notes.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { JobRun } from '../runs/job-run.ts'
import type { TopicSnapshot } from '../topics/compiled-slice.ts'
import { SLICES_AHEAD } from '../topics/filter-loads.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { type KnownMatch, sliceNumberOf, type TopicMatch } from '../topics/topic-filters.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { RunQuarantine } from './run-quarantine.ts'
import type { RunRetries } from './run-retries.ts'
import type { Start, UnitStarts } from './unit-starts.ts'

interface MessageStartsOptions {
  snapshots: Pick<SnapshotCache, 'topic' | 'invalidate' | 'checkFilters' | 'match' | 'sliceOf'>
  units: UnitStarts
  checkpoints: Pick<Checkpoints, 'restore'>
  retries: RunRetries
  quarantine: RunQuarantine
  recorder: Pick<OutcomeRecorder, 'rejectedSlices' | 'unmatched' | 'expiredWhole'>
  idempotency: Pick<Idempotency, 'claimForDispatch'>
  isolation: Pick<IsolationNotes, 'end'>
  /** Adds one to a count in Redis, in addition to the scripts' own counts. */
  count(cause: string): Promise<void>
  /** Epoch ms by Redis's clock. */
  now(): number
}

export class MessageStarts {
  readonly #options: MessageStartsOptions

  constructor(options: MessageStartsOptions) {
    this.#options = options
  }

  /**
   * A message that could not be opened waits for another start of the job. Only retention and the end of its topic
   * remove it before. If the topic's record cannot be read, the job would run for ever, and its worker with it. The
   * message is therefore quarantined.
   */
  async start(run: JobRun, index: number, context: MessageContext): Promise<void> {
    if (context.isLocked) return this.#startLocked(run, context)
    try {
      await this.#startMessage(run, index, context)
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
      const { messageId, topicArn } = context.message
      const entry = { id: `message.${messageId}`, messageId, topicArn, raw: context.body }
      await this.#options.quarantine.add(run, { ...entry, reason: 'topicUnreadable', detail: error.message })
      this.#options.recorder.unmatched(context)
    } finally {
      context.forgetSubjects()
    }
  }

  async startIsolated(run: JobRun, index: number, context: MessageContext): Promise<void> {
    if (context.isLocked || !(await this.#expire(run, context))) await this.start(run, index, context)
    await run.whenUnitsEnded()
    if (run.lost) return
    await this.#options.isolation.end(context)
  }

  /**
   * Retention also ends a message that never reached its lanes. The number of its subscriptions is unknown, so it
   * counts once.
   */
  async #expire(run: JobRun, context: MessageContext): Promise<boolean> {
    const snapshot = await this.#snapshotOf(run, context).catch(readableOnly)
    const ageMs = this.#options.now() - context.message.publishedAt
    if (!snapshot || ageMs <= snapshot.topic.retentionSeconds * 1_000) return false
    if (!hasFirstSlices(run.part)) return true
    keepLater(run, snapshot, context)
    await this.#untilDone(run, () => this.#options.count('expired'))
    this.#options.recorder.expiredWhole(snapshot.topic, context)
    return true
  }

  async #startLocked(run: JobRun, context: MessageContext): Promise<void> {
    try {
      if ((await this.#presentTopic(run, context)) === null) return await this.#discard(run, context)
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error
    }
    run.awaitsKey = !(await this.#expire(run, context)) || run.awaitsKey
  }

  /** The topic is gone. Only one part of a message records things that happen once per message. */
  async #discard(run: JobRun, context: MessageContext): Promise<void> {
    if (!hasFirstSlices(run.part)) return
    await this.#untilDone(run, () => this.#options.count('discarded:topicDeleted'))
    this.#options.recorder.unmatched(context)
  }

  async #startMessage(run: JobRun, index: number, context: MessageContext): Promise<void> {
    // Awaits only real promises, because this runs for every message.
    const present = this.#presentTopic(run, context)
    const snapshot = present instanceof Promise ? await present : present
    if (snapshot === undefined) return
    if (snapshot === null) return this.#discard(run, context)
    if (snapshot.slices.length === 0) {
      if (!hasFirstSlices(run.part)) return
      keepLater(run, snapshot, context)
      this.#options.recorder.unmatched(context)
      return
    }
    // The key is checked only now. Otherwise a message without subscribers could claim the key of a topic that was
    // created again.
    if (context.message.idempotency && !(await this.#bindKey(run, context.message, snapshot))) return
    if (hasFirstSlices(run.part)) keepLater(run, snapshot, context)
    const { snapshots, recorder } = this.#options
    const checks = snapshots.checkFilters(snapshot)
    if (checks) await this.#untilDone(run, () => snapshots.checkFilters(snapshot))
    if (run.fence > 1) await this.#restore(run, snapshot)
    const found = snapshots.match(snapshot, context, () => run.lost)
    const match = found instanceof Promise ? await found : found
    if (run.lost) return
    const start = { run, index, context, snapshot }
    if (match && opensAllBegun(start, match)) {
      await this.#startIn(start, match.toOpen)
      if (match.rejectedSlices && hasFirstSlices(run.part) && !run.lost)
        recorder.rejectedSlices(snapshot.topic, context, match.rejectedSlices)
      return
    }
    await this.#startIn(
      start,
      snapshot.slices.map((ref) => ({ ref })),
    )
  }

  /** One slice after the other. If one must be read, the next ones are read beside it. */
  async #startIn(start: Start, opened: readonly { ref: SliceRef; found?: KnownMatch }[]): Promise<void> {
    const { part } = start.run
    const own = part ? opened.filter(({ ref }) => isOf(part, ref)) : opened
    let readTo = 0
    for (const [i, { ref, found }] of own.entries()) {
      const waits = this.#options.units.start(start, ref, found)
      if (!waits) continue
      readTo = Math.max(readTo, i + 1)
      for (; readTo < own.length && readTo <= i + SLICES_AHEAD; readTo++) {
        const next = own[readTo]
        if (next) void this.#options.snapshots.sliceOf(start.snapshot, next.ref)
      }
      await waits
    }
  }

  /** Reads what earlier starts have settled, in all shards at once, and makes those starts stale. */
  async #restore(run: JobRun, snapshot: TopicSnapshot): Promise<void> {
    const refs = run.part
      ? snapshot.slices.filter((ref) => !run.part || isOf(run.part, ref))
      : snapshot.slices
    const shards = new Set(refs.map(({ shard }) => shard))
    await Promise.all([...shards].map((shard) => this.#options.checkpoints.restore(run, shard)))
  }

  /** The snapshot of the topic that the message goes to. The values are those of #snapshotOf. */
  #presentTopic(run: JobRun, context: MessageContext) {
    const known = this.#options.snapshots.topic(context.message.topicArn)
    if (!(known instanceof Promise) && !isOfAnother(known, context.message)) return known
    return this.#snapshotOf(run, context).then((snapshot) =>
      isOfAnother(snapshot, context.message) ? this.#snapshotAnew(run, context) : snapshot,
    )
  }

  /** The topic's snapshot. null: there is no such topic. undefined: the run is lost. */
  async #snapshotOf(run: JobRun, context: MessageContext): Promise<TopicSnapshot | null | undefined> {
    return this.#untilDone(run, () => this.#options.snapshots.topic(context.message.topicArn))
  }

  /**
   * The topic was deleted, and maybe created again, since the message was published or since the snapshot was read. The
   * present topic counts, because a publisher may still use the earlier topic's uid. The topic is read twice, because
   * the first read may share a read that began earlier.
   */
  async #snapshotAnew(run: JobRun, context: MessageContext): Promise<TopicSnapshot | null | undefined> {
    this.#options.snapshots.invalidate(context.message.topicArn)
    const snapshot = await this.#snapshotOf(run, context)
    if (!isOfAnother(snapshot, context.message)) return snapshot
    this.#options.snapshots.invalidate(context.message.topicArn)
    return this.#snapshotOf(run, context)
  }

  /**
   * Two messages may carry the same idempotency key. The first to bind the key is delivered, and the other one is
   * dropped. Publishers bind keys too, but here the key is bound in the topic that the message goes to. If this topic
   * was created again after the publish, it does not know the publisher's key. A repeated request would then find the
   * key free, and its message would be delivered too.
   *
   * Once a message is dropped, the key's value is the only record of the other message's publish. Redis may lose it, so
   * it counts as a copy. Returns false if the message is dropped or the run is lost.
   */
  async #bindKey(
    run: JobRun,
    { idempotency, topicUid }: Message,
    { topic }: TopicSnapshot,
  ): Promise<boolean> {
    if (!idempotency) return true
    const { key, value } = idempotency
    const name = topicUid === undefined ? key : underTopic(key, topicUid, topic.uid)
    const claim = async () => {
      const mark = run.copies.mark(name)
      const claimed = await this.#options.idempotency.claimForDispatch(name, value, {
        jobName: run.jobName,
        mark,
      })
      if (claimed === 'jobGone') run.lost = true
      else if (!claimed) run.copies.wrote(mark)
      return claimed === true
    }
    return (await this.#untilDone(run, claim)) ?? false
  }

  #untilDone<T>(run: JobRun, attempt: () => Promise<T> | T): Promise<T | undefined> {
    return this.#options.retries.untilDone(run, attempt)
  }
}

/** The dispatcher writes a run's messages into their rings together. */
function keepLater(run: JobRun, { topic }: TopicSnapshot, context: MessageContext): void {
  if (!hasRing(topic)) return
  run.toKeep ??= []
  run.toKeep.push(keptForm(topic, context))
}

/** Ignores a topic whose record cannot be decoded. It is handled when its message is started. */
function readableOnly(error: unknown): null {
  if (error instanceof UnreadableRecordError) return null
  throw error
}

function isOf({ slices: [from, to] }: DispatchPart, { sliceId }: SliceRef): boolean {
  const sliceNumber = sliceNumberOf(sliceId)
  return sliceNumber >= from && (to === null || sliceNumber < to)
}

/** The part with the first slices of a message does everything that must happen once per message. */
function hasFirstSlices(part: DispatchPart | undefined): boolean {
  return part === undefined || part.slices[0] === 0
}

/**
 * Whether the match opens all slices that an earlier start has begun. Their filters may have changed since, so they
 * must not be skipped.
 */
function opensAllBegun({ run, index, snapshot }: Start, { toOpen }: TopicMatch): boolean {
  if (run.fence === 1) return true
  const opened = new Set(toOpen.map(({ ref }) => ref.sliceId))
  return snapshot.slices.every(
    ({ sliceId }) => opened.has(sliceId) || !run.restored.has(`${index}.${sliceId}`),
  )
}

/** Whether the topic is not the one that was published to, or no longer exists. */
function isOfAnother(snapshot: TopicSnapshot | null | undefined, { topicUid }: Message): boolean {
  return topicUid !== undefined && snapshot !== undefined && snapshot?.topic.uid !== topicUid
}
