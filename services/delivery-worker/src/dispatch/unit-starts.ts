/** Starts a message in one slice: its subscriptions are matched, the unit is admitted, and first attempts begin. */
import type { FirstAttempts } from '../first-attempts/first-attempts.ts'
import type { MessageContext } from '../messages/message-context.ts'
import type { OutcomeRecorder } from '../reports/outcome-recorder.ts'
import type { JobRun } from '../runs/job-run.ts'
import { Unit } from '../runs/unit.ts'
import type { CompiledSlice, TopicSnapshot } from '../topics/compiled-slice.ts'
import type { SliceMatch } from '../topics/slice-match.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import type { KnownMatch } from '../topics/topic-filters.ts'
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

  /** Returns a promise only if it must wait. */
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
    // This is read before the unit waits for capacity. After a long wait the check is too old, and is made again.
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
    // The run may have been lost while it waited. Another worker has its deliveries then.
    if (unit.run.lost) return
    this.#setMatch(unit, match)
    this.#options.admission.countBegun(unit.matched.length)
    unit.run.addUnit(unit)
    // While deliveries are passed on, one delivery more counts as open. Otherwise the unit could end before the last
    // delivery is passed on.
    unit.open++
    try {
      this.#options.firstAttempts.start(unit)
    } catch (error) {
      unit.run.abandon(unit)
      throw error
    }
    unit.close()
  }

  /** Matches by the present slice. If a filter changes later, that affects only later messages. */
  #match(
    { run, slice, context }: Unit,
    found: KnownMatch | undefined,
  ): SliceMatch | Promise<SliceMatch | undefined> {
    const bits = found && found.filters.revision === slice.revision ? found.bits : undefined
    return this.#options.snapshots.matchSlice(slice, context, () => run.lost, bits)
  }

  #setMatch(unit: Unit, { matched, filtered, reasons }: SliceMatch): void {
    const { slice, settled, run } = unit
    unit.matched = matched
    if (slice.filters === null) return
    unit.filtered = run.fence > 1 ? settled.missingFrom(filtered) : filtered
    this.#options.recorder.filtered(slice.topic.name, reasons)
  }
}
