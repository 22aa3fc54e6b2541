/**
 * Bits of subscriptions: which deliveries of a slice are settled, delivered or parked. Most slices are small, and every
 * message makes three bitmaps. Up to 30 bits are therefore stored in a number. A buffer for each would cost more than
 * all operations on it.
 */
const NOTHING = Buffer.alloc(0)
const SMALL_BITS = 30
/** The most frequent packed forms, cached by value. Callers must not change them. */
const PACKED_KEPT = 4_096
const kept: (Buffer | undefined)[] = []

export class Bitmap {
  #small = 0
  readonly #bytes: Buffer | undefined

  constructor(bits: number, from?: Buffer) {
    if (bits > SMALL_BITS || (from !== undefined && from.length > 3)) {
      this.#bytes = Buffer.alloc(Math.max((bits + 7) >> 3, from?.length ?? 0))
      if (from) this.#bytes.set(from)
    } else if (from !== undefined && from.length > 0) {
      this.#small = from.readUIntLE(0, from.length)
    }
  }

  has(bit: number): boolean {
    if (this.#bytes === undefined) return (this.#small & (1 << bit)) !== 0
    return ((this.#bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
  }

  add(bit: number): void {
    if (this.#bytes === undefined) {
      this.#small |= 1 << bit
      return
    }
    const byte = bit >> 3
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) | (1 << (bit & 7))
  }

  remove(bit: number): void {
    if (this.#bytes === undefined) {
      this.#small &= ~(1 << bit)
      return
    }
    const byte = bit >> 3
    this.#bytes[byte] = (this.#bytes[byte] ?? 0) & ~(1 << (bit & 7))
  }

  /** The bits of `other` that are not set here. Callers must not change the result. */
  missingFrom(other: Buffer): Buffer {
    const here = this.packed()
    return here.length === 0 ? other : Buffer.from(other.map((byte, i) => byte & ~(here[i] ?? 0)))
  }

  count(): number {
    let bits = 0
    for (let small = this.#small; small !== 0; small &= small - 1) bits++
    if (this.#bytes) for (let byte of this.#bytes) for (; byte !== 0; byte &= byte - 1) bits++
    return bits
  }

  /** Bytes without trailing zeros. Callers must not change them, because they may be shared. */
  packed(): Buffer {
    if (this.#bytes !== undefined) return packedBytes(this.#bytes)
    const small = this.#small
    if (small === 0) return NOTHING
    if (small >= PACKED_KEPT) return packSmall(small)
    kept[small] ??= packSmall(small)
    return kept[small]
  }
}

function packSmall(small: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(small)
  return packedBytes(bytes)
}

function packedBytes(bytes: Buffer): Buffer {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return end === 0 ? NOTHING : Buffer.from(bytes.subarray(0, end))
}
