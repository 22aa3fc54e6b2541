/** One start of a dispatch job: its messages, and a Unit for each message and slice. */
import type { DispatchRun } from '@fantail/jobs'
import type { NewKept, ServerMark } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { FencedRun } from '../settling/park-items.ts'
import { type SettledUnit, settledField } from './bit-copies.ts'
import type { Unit } from './unit.ts'

/**
 * Units of a run that may keep their data after they have ended. Past it: a unit drops its slice and its results when
 * it ends, because the slices of millions of subscriptions would take gigabytes.
 */
const UNITS_KEPT_MAX = 16

/** Messages of one topic that are in its ring. */
export interface KeptSome {
  messages: NewKept[]
  /** Undefined: losing them from the ring would be allowed. */
  mark: ServerMark | undefined
}

export class JobRun implements FencedRun {
  readonly jobName: string
  readonly fence: number
  readonly messages: MessageContext[]
  /**
   * Some messages of the job could not be read and are missing here. Positions here then differ from those in the job.
   */
  readonly hasUnreadable: boolean
  readonly record: DispatchRun['record']
  readonly part: DispatchRun['part']
  readonly copies: DispatchRun['copies']
  readonly hasCapacityFor: DispatchRun['hasCapacityFor']
  readonly handOut: DispatchRun['handOut']
  readonly handOutAgain: DispatchRun['handOutAgain']
  readonly startedAt = performance.now()
  /** The checkpoint of earlier starts: field → settled bits. */
  readonly restored = new Map<string, Buffer>()
  /** The latest start before this one that is known to have begun, from the checkpoints that were read. */
  begunStart = 0
  readonly units: Unit[] = []
  readonly #isLost: () => boolean
  readonly #onUnitEnded: (unit: Unit) => void
  readonly #touchedShards = new Set<number>()
  /** Shards whose checkpoints were requested and not written yet. */
  #askedShards: Set<number> | undefined
  /**
   * True when this start has ended, in whatever way. Parking then writes no checkpoint of it any more, because the job
   * may be gone, and nothing would delete the checkpoint.
   */
  ended = false
  /**
   * True if some data of the job belongs in the quarantine, and the quarantine is full. The job stays until there is
   * capacity.
   */
  awaitsQuarantine = false
  /** True if a message of the job cannot be opened. The job stays until somebody has the key. */
  awaitsKey = false
  /** True if the ring of an archive is damaged. The job stays until it is repaired. */
  awaitsRing = false
  /** Whether messages are started one at a time, because earlier starts did not end (isolating-runs.ts). */
  isIsolating = false
  /** Messages for the rings of their topics. Undefined in runs whose topics keep none. */
  toKeep: NewKept[] | undefined
  /** Messages that this run has put into rings. */
  readonly kept: KeptSome[] = []
  #refused = false
  #openUnits = 0
  #waiting: (() => void) | undefined

  constructor(run: DispatchRun, messages: MessageContext[], onUnitEnded: (unit: Unit) => void) {
    this.jobName = run.jobName
    this.fence = run.fence
    this.messages = messages
    this.hasUnreadable = messages.length < run.messages.length
    this.record = run.record
    this.part = run.part
    this.copies = run.copies
    this.hasCapacityFor = run.hasCapacityFor
    this.handOut = run.handOut
    this.handOutAgain = run.handOutAgain
    const isLost = () => run.isLost()
    this.#isLost = isLost
    this.#onUnitEnded = onUnitEnded
  }

  get lost(): boolean {
    return this.#refused || this.#isLost()
  }

  set lost(value: boolean) {
    this.#refused = value
  }

  /** Restores what earlier starts settled in this shard. Other notes of the shard get the key `<shard>:<name>`. */
  restore(shard: number, { begun, fields }: { begun: number; fields: Map<string, Buffer> }): void {
    // If the reply to an earlier try was lost, the checkpoint has this start's own fence.
    if (begun < this.fence) this.begunStart = Math.max(this.begunStart, begun)
    for (const [name, value] of fields) this.restored.set(/^\d/.test(name) ? name : `${shard}:${name}`, value)
    this.#touchedShards.add(shard)
  }

  /** Remembers that this shard has data of the run. */
  touch(shard: number): void {
    this.#touchedShards.add(shard)
  }

  addUnit(unit: Unit): void {
    this.units.push(unit)
    this.#openUnits++
  }

  unitEnded(unit: Unit): void {
    this.#openUnits--
    this.#onUnitEnded(unit)
    if (this.units.length > UNITS_KEPT_MAX) unit.release()
    if (this.#openUnits === 0) this.#waiting?.()
  }

  /**
   * The run no longer waits for the unit. If deliveries of the unit end before the run does, the checkpoint still
   * records them.
   */
  abandon(unit: Unit): void {
    unit.abandoned = true
    this.#openUnits--
    if (this.#openUnits === 0) this.#waiting?.()
  }

  /** Resolves when every unit that was added has ended. */
  async whenUnitsEnded(): Promise<void> {
    if (this.#openUnits === 0) return
    await new Promise<void>((resolve) => {
      this.#waiting = resolve
    })
    this.#waiting = undefined
  }

  /** Shards whose stored checkpoint lacks some settled deliveries. */
  dirtyShards(): Set<number> {
    const shards = new Set<number>()
    for (const unit of this.units)
      if (unit.settledCount > Math.max(unit.storedCount, unit.storingCount)) shards.add(unit.slice.shard)
    return shards
  }

  /**
   * The dirty shards whose checkpoint is not requested yet. While Redis is unreachable, one request for each is enough.
   */
  shardsToCheckpoint(): number[] {
    this.#askedShards ??= new Set()
    const shards = [...this.dirtyShards()].filter((shard) => !this.#askedShards?.has(shard))
    for (const shard of shards) this.#askedShards.add(shard)
    return shards
  }

  checkpointFields(shard: number): [string, Buffer][] {
    this.#askedShards?.delete(shard)
    const fields: [string, Buffer][] = []
    for (const unit of this.units) {
      if (unit.slice.shard !== shard || unit.settledCount === unit.storedCount) continue
      unit.storingCount = unit.settledCount
      fields.push(settledField(unit.settledUnit()))
    }
    return fields
  }

  /** Units in which this run has settled deliveries that have no copy in a queue. */
  settledBesideCopies(): SettledUnit[] {
    const units = this.units.filter(({ settledCount, copies }) => settledCount > (copies?.size ?? 0))
    return units.map((unit) => unit.settledUnit())
  }

  checkpointed(shard: number): void {
    for (const unit of this.units) if (unit.slice.shard === shard) unit.storedCount = unit.storingCount
  }

  /** Shards that have a checkpoint of the run, or will have one. */
  touchedShards(): Set<number> {
    const written = this.units.filter((unit) => unit.storingCount > 0).map((unit) => unit.slice.shard)
    return new Set([...this.#touchedShards, ...written])
  }
}
