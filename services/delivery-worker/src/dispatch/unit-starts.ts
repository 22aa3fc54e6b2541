/** Starts what a message has in one slice: matched, admitted, and handed to its first attempts. */
import type { FirstAttempts } from '../first-attempts/first-attempts.ts'
import type { OutcomeRecorder } from '../outcomes/outcome-recorder.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import type { MessageContext } from '../topics/message-context.ts'
import type { SliceMatch } from '../topics/slice-match.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import type { KnownMatch } from '../topics/topic-filters.ts'
import type { TopicSnapshot } from '../topics/topic-snapshot.ts'
import { type JobRun, Unit } from './job-run.ts'
import type { RunRetries } from './run-retries.ts'
import type { UnitAdmission } from './unit-admission.ts'

/** A message whose slices are being started. */
export interface Start {
  run: JobRun
  index: number
  context: MessageContext
  snapshot: TopicSnapshot
}

type SliceRef = TopicSnapshot['slices'][number]

interface UnitStartsOptions {
  snapshots: Pick<SnapshotCache, 'sliceOf' | 'checkedAt' | 'matchSlice'>
  firstAttempts: Pick<FirstAttempts, 'start'>
  recorder: Pick<OutcomeRecorder, 'filtered'>
  retries: RunRetries
  admission: UnitAdmission
}

export class UnitStarts {
  readonly #options: UnitStartsOptions

  constructor(options: UnitStartsOptions) {
    this.#options = options
  }

  /** A promise only if there is something to wait for. */
  start(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> | undefined {
    if (start.run.lost) return undefined
    const cached = this.#options.snapshots.sliceOf(start.snapshot, ref)
    if (cached instanceof Promise) {
      start.context.forgetSubjects()
      return this.#startLoaded(start, ref, found)
    }
    return cached ? this.#admitUnit(start, cached, found) : undefined
  }

  async #startLoaded(start: Start, ref: SliceRef, found?: KnownMatch): Promise<void> {
    const slice = await this.#options.retries.untilDone(start.run, () =>
      this.#options.snapshots.sliceOf(start.snapshot, ref),
    )
    if (slice) await this.#admitUnit(start, slice, found)
  }

  #admitUnit(
    { snapshot, ...start }: Start,
    slice: CompiledSlice,
    found?: KnownMatch,
  ): Promise<void> | undefined {
    if (slice.filters !== null) snapshot.hasFilters = true
    // Taken before the wait for room: what is too old by its end is checked again.
    const checkedAt = this.#options.snapshots.checkedAt(slice, snapshot)
    const unit = new Unit({ ...start, slice, checkedAt })
    const match = this.#match(unit, found)
    if (match instanceof Promise) return match.then((matched) => matched && this.#admitMatched(unit, matched))
    return this.#admitMatched(unit, match)
  }

  #admitMatched(unit: Unit, match: SliceMatch): Promise<void> | undefined {
    const waits = this.#options.admission.admit(match.matched.length, () => this.#startUnit(unit, match))
    if (waits) unit.context.forgetSubjects()
    return waits
  }

  #startUnit(unit: Unit, match: SliceMatch): void {
    // It may have been lost while it waited for room: its deliveries are another worker's.
    if (unit.run.lost) return
    this.#setMatch(unit, match)
    this.#options.admission.countBegun(unit.matched.length)
    unit.run.addUnit(unit)
    // Held open while deliveries are handed over, so that the unit cannot end between two of them.
    unit.open++
    try {
      this.#options.firstAttempts.start(unit)
    } catch (error) {
      unit.run.abandon(unit)
      throw error
    }
    unit.close()
  }

  /** Decided by the slice in hand: a filter that changes later acts on what is dispatched later. */
  #match(
    { run, slice, context }: Unit,
    found: KnownMatch | undefined,
  ): SliceMatch | Promise<SliceMatch | undefined> {
    const slots = found && found.filters.revision === slice.revision ? found.slots : undefined
    return this.#options.snapshots.matchSlice(slice, context, () => run.lost, slots)
  }

  #setMatch(unit: Unit, { matched, filtered, reasons }: SliceMatch): void {
    const { slice, settled, run } = unit
    unit.matched = matched
    if (slice.filters === null) return
    unit.filtered = run.fence > 1 ? settled.missingFrom(filtered) : filtered
    this.#options.recorder.filtered(slice.topic.name, reasons)
  }
}
