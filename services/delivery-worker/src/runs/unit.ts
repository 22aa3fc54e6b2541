/**
 * One message and slice of a run, which knows which of its deliveries are settled.
 *
 * A delivery of a unit is *open* until it is delivered at once, parked in its lane, or refused because its subscription
 * is gone. Then it is *settled* permanently. A later start of the job finds the bit in the checkpoint and skips it.
 */
import type { DispatchRun } from '@fantail/jobs'
import type { CodeBits, ServerMark } from '@fantail/store'
import type { MessageContext } from '../messages/message-context.ts'
import type { FencedRun } from '../settling/park-items.ts'
import { Bitmap } from '../topics/bitmap.ts'
import type { CompiledSlice, CompiledSubscription } from '../topics/compiled-slice.ts'
import { BitCopies, type SettledUnit } from './bit-copies.ts'

const NOTHING = Buffer.alloc(0)
/** The subscriptions of a released slice. It is shared, because every message has a unit. */
const NOBODY = {
  subscriptions: [],
  filters: null,
  unfiltered: [],
  byBit: [],
  byId: new Map<string, never>(),
}

type Failure = [bit: number, statusCode: number | null, error: string | null]

/** The part of a run that its units need. */
interface RunOfUnits extends FencedRun {
  copies: FencedRun['copies'] & Pick<DispatchRun['copies'], 'wrote'>
  restored: ReadonlyMap<string, Buffer>
  isIsolating: boolean
  addUnit(unit: Unit): void
  unitEnded(unit: Unit): void
  abandon(unit: Unit): void
}

interface UnitOptions {
  run: RunOfUnits
  /** The message's index in its job. */
  index: number
  context: MessageContext
  slice: CompiledSlice
  checkedAt: number
}

export class Unit {
  readonly run: RunOfUnits
  readonly context: MessageContext
  readonly field: string
  /** Replaced if the snapshot changes while deliveries wait. */
  slice: CompiledSlice
  /** How many subscriptions the slice had lost when the unit was started. Bits belong to that moment. */
  readonly departures: number
  /** When the slice was last known to be current, by performance.now(). */
  checkedAt: number
  readonly startedAt = performance.now()
  readonly settled: Bitmap
  readonly delivered: Bitmap
  readonly parked: Bitmap
  /** Copies in queues. Undefined in most units. */
  copies: BitCopies | undefined
  failures: Failure[] = []
  /** Bits that were delivered with another status than 200, by status. Undefined in most units. */
  #otherCodes: Map<number, Bitmap> | undefined
  /** Bits that were parked while their subscriptions were paused. Undefined in most units. */
  #paused: Bitmap | undefined
  /** The subscriptions that the message is for. They are decided once, when the unit is started. */
  matched: readonly CompiledSubscription[] = []
  /**
   * Bitmap of the subscriptions whose filters reject the message, without those that an earlier start has settled.
   * Callers must not change it.
   */
  filtered: Buffer = NOTHING
  open = 0
  /** The unit could not be started completely, and will not end. */
  abandoned = false
  /** Bits that this run has settled. */
  settledCount = 0
  /** Bits of these that are in the stored checkpoint. */
  storedCount = 0
  /** Bits of these that are in the checkpoint that is being written, or was written last. */
  storingCount = 0

  constructor({ run, index, context, slice, checkedAt }: UnitOptions) {
    this.run = run
    this.checkedAt = checkedAt
    this.context = context
    this.slice = slice
    this.departures = slice.departures
    this.field = `${index}.${slice.sliceId}`
    const before = run.restored.get(this.field)
    this.settled = new Bitmap(slice.bits, before)
    this.delivered = new Bitmap(slice.bits)
    this.parked = new Bitmap(slice.bits)
  }

  settle(bit: number): void {
    if (this.settled.has(bit)) return
    this.settled.add(bit)
    this.settledCount++
  }

  /** Called if the delivery could not be parked, and no checkpoint has the bit. */
  unsettle(bit: number): void {
    if (!this.settled.has(bit)) return
    this.settled.remove(bit)
    this.settledCount--
  }

  /** Called when the first attempt succeeded. `copy`: set if the endpoint is a queue of this Redis. */
  settleDelivered(bit: number, statusCode: number | null, copy?: ServerMark): void {
    if (copy) this.#noteCopy(bit, copy)
    this.delivered.add(bit)
    if (statusCode !== 200 && statusCode !== null) this.#noteCode(bit, statusCode)
    this.settle(bit)
  }

  #noteCopy(bit: number, copy: ServerMark): void {
    this.run.copies.wrote(copy)
    this.copies ??= new BitCopies(this.slice.bits)
    this.copies.add(bit, copy)
  }

  #noteCode(bit: number, statusCode: number): void {
    this.#otherCodes ??= new Map()
    const bits = this.#otherCodes.get(statusCode) ?? new Bitmap(this.slice.bits)
    bits.add(bit)
    this.#otherCodes.set(statusCode, bits)
  }

  notePaused(bit: number): void {
    this.#paused ??= new Bitmap(this.slice.bits)
    this.#paused.add(bit)
  }

  /** undefined: none. */
  paused(): Buffer | undefined {
    return this.#paused?.packed()
  }

  otherCodes(): CodeBits[] {
    if (!this.#otherCodes) return []
    return [...this.#otherCodes].map(([statusCode, bits]) => [statusCode, bits.packed()])
  }

  settledUnit(): SettledUnit {
    const { field, settled, copies } = this
    return { shard: this.slice.shard, field, settled, copies }
  }

  /** Called when the unit has ended and was reported. Drops most of its data. The rest says where its checkpoint is. */
  release(): void {
    const { sliceId, shard, departures, revision, topic, bits } = this.slice
    this.slice = { sliceId, shard, departures, revision, topic, bits, ...NOBODY }
    this.matched = []
    this.failures = []
    this.#otherCodes = undefined
    this.#paused = undefined
  }

  /** Called when a delivery is no longer open. The last one ends the unit. */
  close(): void {
    this.open--
    if (this.open === 0 && !this.abandoned) this.run.unitEnded(this)
  }
}
