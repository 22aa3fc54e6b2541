/**
 * Cuts a job that is too large for one worker into parts, which all workers share. If the job has many messages, each
 * part gets some messages. If one message has many subscriptions, each part gets some slices. A sealed message whose
 * key is missing gets a part of its own, so that the others can end. Without parts, a message to ten million
 * subscriptions would occupy one worker for a quarter of an hour, with all slices in its memory.
 *
 * first start ─▶ weighed ─▶ noted, then handed out ─▶ waits for its parts
 *                                │ the worker died
 * later start ─▶ the note is found ─▶ missing parts are handed out ─▶ waits for its parts, or completed
 *
 * If Redis has no capacity for parts, a job is left whole. jobs/src/consuming/dispatch-parts.ts stores them.
 */
import type { DispatchPart } from '@fantail/jobs'
import type { Logger } from '@fantail/runtime'
import { type SliceRef, shardOf, UnreadableRecordError } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { JobRun } from '../runs/job-run.ts'
import type { TopicSnapshot } from '../topics/compiled-slice.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { sliceNumberOf, type TopicMatch } from '../topics/topic-filters.ts'
import type { Checkpoints } from './checkpoints.ts'
import { hasFailedStarts } from './isolating-runs.ts'
import { isKeptNote } from './kept-notes.ts'
import type { RunRetries } from './run-retries.ts'

/** Deliveries of a part, about a tenth of a second of a worker's time. Each part costs as much overhead as a job. */
const PART_DELIVERIES = 2_000
/** Deliveries of a job that is left whole. Past it: the job is cut into parts. */
const WHOLE_MAX = 5_000
/** Parts of one message. Past it: the parts are larger. */
const PARTS_MAX = 256
/** `<message>.<slice>`: the form of a unit's field in the checkpoint. The notes of a job have other forms. */
const UNIT_FIELD = /^\d+\./

/** The expected work of a message, from what is known before the message is started. */
export interface Weight {
  deliveries: number
  /** Numbers of the slices to be opened, ascending. */
  slices: readonly number[]
  /** It is sealed, and its key is missing. */
  isLocked?: boolean
}

const NOTHING: Weight = { deliveries: 0, slices: [] }

interface JobPartsOptions {
  snapshots: Pick<SnapshotCache, 'topic' | 'loadFilters' | 'match'>
  checkpoints: Pick<Checkpoints, 'restore'>
  retries: RunRetries
  log: Logger
}

export class JobParts {
  readonly #options: JobPartsOptions

  constructor(options: JobPartsOptions) {
    this.#options = options
  }

  /**
   * Returns true if the parts were handed out, so that this run has nothing left to do. It returns a promise only if it
   * must wait.
   */
  handOut(run: JobRun): Promise<boolean> | boolean {
    if (run.part) return false
    if (run.fence === 1 && isMixed(run)) return this.#cut(run)
    if (run.fence > 1) return this.#handOutAgain(run)
    const deliveries = this.#deliveries(run)
    if (deliveries instanceof Promise) return deliveries.then((sum) => sum > WHOLE_MAX && this.#cut(run))
    return deliveries > WHOLE_MAX && this.#cut(run)
  }

  /**
   * Without a note, the job was not cut: it was not begun, or it was left whole. It is cut now only if it is much
   * larger than the limit, or if only some of its messages can be opened.
   */
  async #handOutAgain(run: JobRun): Promise<boolean> {
    if (await this.#options.retries.untilDone(run, () => run.handOutAgain())) return true
    const isCut = isMixed(run) || (await this.#deliveries(run)) > 2 * WHOLE_MAX
    if (!isCut || (await this.#isBegun(run))) return false
    return this.#cut(run)
  }

  /** Whether an earlier start has settled deliveries or kept messages of the whole job. Parts would not know which. */
  async #isBegun(run: JobRun): Promise<boolean> {
    const arns = new Set(run.messages.map(({ message }) => message.topicArn))
    const snapshots = await Promise.all([...arns].map((arn) => this.#snapshotOf(run, arn)))
    const ofSlices = snapshots.flatMap((snapshot) => snapshot?.slices.map(({ shard }) => shard) ?? [])
    const shards = new Set([shardOf(run.jobName), ...[...arns].map(shardOf), ...ofSlices])
    await Promise.all([...shards].map((shard) => this.#options.checkpoints.restore(run, shard)))
    const fields = [...run.restored.keys()]
    return hasFailedStarts(run) || fields.some((field) => UNIT_FIELD.test(field) || isKeptNote(field))
  }

  /** The largest possible number of deliveries of all messages. It ignores filters. */
  #deliveries(run: JobRun): Promise<number> | number {
    let sum = 0
    let unknown: Promise<TopicSnapshot | null>[] | undefined
    let [lastArn, last] = ['', 0]
    for (const { message } of run.messages) {
      if (message.topicArn !== lastArn) {
        const snapshot = this.#options.snapshots.topic(message.topicArn)
        if (snapshot instanceof Promise) {
          unknown ??= []
          unknown.push(this.#snapshotOf(run, message.topicArn))
          continue
        }
        lastArn = message.topicArn
        last = snapshot.subscriptions
      }
      sum += last
    }
    if (!unknown) return sum
    return Promise.all(unknown).then((snapshots) =>
      snapshots.reduce((all, snapshot) => all + (snapshot?.subscriptions ?? 0), sum),
    )
  }

  /** A topic that cannot be read is reported when its message is started. */
  async #snapshotOf(run: JobRun, arn: string): Promise<TopicSnapshot | null> {
    const { snapshots, retries } = this.#options
    try {
      return (await retries.untilDone(run, () => snapshots.topic(arn))) ?? null
    } catch (error) {
      if (error instanceof UnreadableRecordError) return null
      throw error
    }
  }

  async #cut(run: JobRun): Promise<boolean> {
    // Parts name messages by their positions in the job. Unreadable messages are missing in this list, so positions
    // would be wrong.
    if (run.hasUnreadable) return false
    const parts = cutUp(await Promise.all(run.messages.map((context) => this.#weigh(run, context))))
    if (parts.length < 2) return false
    const { retries, log } = this.#options
    const hasCapacity = await retries.untilDone(run, () => run.hasCapacityFor(parts.length))
    if (!hasCapacity) return false
    const handedOut = await retries.untilDone(run, () => run.handOut(parts))
    // The run ends here, and a later start decides whether to cut the job.
    if (handedOut === false) run.lost = true
    if (handedOut)
      log.info({ job: run.jobName, messages: run.messages.length, parts: parts.length }, 'dispatch.cut')
    return handedOut === true
  }

  async #weigh(run: JobRun, context: MessageContext): Promise<Weight> {
    const { snapshots, retries } = this.#options
    const snapshot = await this.#snapshotOf(run, context.message.topicArn)
    const { isLocked } = context
    if (!snapshot) return { ...NOTHING, isLocked }
    // A message that kills workers may kill them while it is matched. It is not matched here, but in a part of the job,
    // whose run isolates.
    const mayMatch = !run.isIsolating && !isLocked
    if (mayMatch) await retries.untilDone(run, () => snapshots.loadFilters(snapshot, WHOLE_MAX))
    const match = mayMatch ? await snapshots.match(snapshot, context, () => run.lost) : undefined
    context.forgetSubjects()
    if (!match) return { deliveries: snapshot.subscriptions, slices: numbersOf(snapshot.slices), isLocked }
    const perSlice = snapshot.subscriptions / snapshot.slices.length
    const deliveriesOf = ({ found }: TopicMatch['toOpen'][number]) =>
      found ? found.bits.length + found.filters.unfiltered : perSlice
    const deliveries = match.toOpen.reduce((sum, opened) => sum + deliveriesOf(opened), 0)
    return { deliveries, slices: numbersOf(match.toOpen.map(({ ref }) => ref)) }
  }
}

/** Whether only some messages of the job can be opened. */
function isMixed({ messages }: JobRun): boolean {
  return messages.length > 1 && messages.some(({ isLocked }) => isLocked)
}

function numbersOf(refs: readonly SliceRef[]): number[] {
  return refs.map(({ sliceId }) => sliceNumberOf(sliceId)).sort((a, b) => a - b)
}

/**
 * Makes parts of about PART_DELIVERIES. Small messages that follow each other share a part. A large message is divided.
 */
export function cutUp(weights: Weight[]): DispatchPart[] {
  const parts: DispatchPart[] = []
  let [from, together] = [0, 0]
  const end = (to: number) => {
    if (to > from) parts.push({ messages: [from, to], slices: [0, null] })
    from = to
    together = 0
  }
  for (const [index, weight] of weights.entries()) {
    if (isCutBySlices(weight)) {
      end(index)
      for (const slices of rangesOf(weight)) parts.push({ messages: [index, index + 1], slices })
      from = index + 1
      continue
    }
    if (weight.isLocked) {
      end(index)
      end(index + 1)
      continue
    }
    if (weight.deliveries > 0 && together > 0 && together + weight.deliveries > PART_DELIVERIES) end(index)
    together += weight.deliveries
  }
  end(weights.length)
  return parts
}

function isCutBySlices({ deliveries, slices }: Weight): boolean {
  return deliveries > WHOLE_MAX && slices.length > 1
}

/**
 * Ranges of slices, without a gap. They begin with slice 0 and end with the last slice that exists when the part runs,
 * because the topic may grow meanwhile.
 */
function rangesOf({ deliveries, slices }: Weight): DispatchPart['slices'][] {
  const count = Math.min(Math.ceil(deliveries / PART_DELIVERIES), slices.length, PARTS_MAX)
  const starts = Array.from({ length: count }, (_, i) =>
    i === 0 ? 0 : (slices[Math.floor((i * slices.length) / count)] ?? 0),
  )
  return starts.map((start, i) => [start, starts[i + 1] ?? null])
}
