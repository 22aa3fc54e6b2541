/**
 * Copies of a unit's deliveries in queues of this Redis, by bit. A checkpoint counts such a delivery as settled only
 * while its copy certainly exists. If the copy is lost, the next start appends the message again, with the same id.
 */
import type { ServerMark } from '@fantail/store'
import { Bitmap } from '../topics/bitmap.ts'

/** Whether the copy with this mark certainly exists. */
export type Holds = (mark: ServerMark) => boolean

/** The settled part of a unit, without message and slice. */
export interface SettledUnit {
  shard: number
  /** The field of the unit in the checkpoint. */
  field: string
  settled: Bitmap
  /** undefined: none. */
  copies: BitCopies | undefined
}

const markHolds: Holds = (mark) => mark.holds()

/** The unit's part of a checkpoint. The caller must not change it. */
export function settledField({ field, settled, copies }: SettledUnit, holds = markHolds): [string, Buffer] {
  const packed = settled.packed()
  return [field, copies?.settledFor(packed, holds) ?? packed]
}

export class BitCopies {
  readonly #bits: number
  /** By the mark's key. Only the first mark of a key is kept, because no later one outlasts it. */
  readonly #byKey = new Map<string, { mark: ServerMark; bits: Bitmap }>()

  #size = 0

  /** `bits`: of the unit's slice. */
  constructor(bits: number) {
    this.#bits = bits
  }

  get size(): number {
    return this.#size
  }

  /** Adds a copy. It must be called once for each bit. */
  add(bit: number, mark: ServerMark): void {
    this.#size++
    let copies = this.#byKey.get(mark.key)
    if (!copies) {
      copies = { mark, bits: new Bitmap(this.#bits) }
      this.#byKey.set(mark.key, copies)
    }
    copies.bits.add(bit)
  }

  /** The settled bits, without those whose copies may be gone. The caller must not change it. */
  settledFor(settled: Buffer, holds: Holds): Buffer {
    let sure = settled
    for (const { mark, bits } of this.#byKey.values()) if (!holds(mark)) sure = bits.missingFrom(sure)
    return sure
  }
}
