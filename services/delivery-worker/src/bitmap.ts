/** Bits by subscription slot: what of a slice is settled, delivered, parked. */
const NOTHING = Buffer.alloc(0)

export class Bitmap {
  readonly bytes: Buffer

  constructor(bits: number, from?: Buffer) {
    this.bytes = Buffer.alloc(Math.max((bits + 7) >> 3, from?.length ?? 0))
    if (from) this.bytes.set(from)
  }

  has(bit: number): boolean {
    return ((this.bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
  }

  add(bit: number): void {
    const byte = bit >> 3
    this.bytes[byte] = (this.bytes[byte] ?? 0) | (1 << (bit & 7))
  }

  count(): number {
    let bits = 0
    for (let byte of this.bytes) for (; byte !== 0; byte &= byte - 1) bits++
    return bits
  }

  /** A copy without trailing zero bytes; shared where nothing is set. */
  packed(): Buffer {
    let end = this.bytes.length
    while (end > 0 && this.bytes[end - 1] === 0) end--
    return end === 0 ? NOTHING : Buffer.from(this.bytes.subarray(0, end))
  }
}
