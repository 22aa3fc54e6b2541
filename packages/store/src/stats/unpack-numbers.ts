/** Reads an array of whole numbers that a script packed by `cmsgpack` (msgpack.org). */

const FIXED_ARRAY = 0x90
const ARRAY_16 = 0xdc
const UNSIGNED_8 = 0xcc
const UNSIGNED_16 = 0xcd
const UNSIGNED_32 = 0xce
const UNSIGNED_64 = 0xcf

/** Throws for anything else. */
export function unpackNumbers(packed: Buffer): number[] {
  const head = packed.readUInt8(0)
  const isLong = head === ARRAY_16
  if (!isLong && head >> 4 !== FIXED_ARRAY >> 4) throw new Error('packed numbers do not begin with an array')
  const count = isLong ? packed.readUInt16BE(1) : head - FIXED_ARRAY
  const numbers: number[] = []
  let at = isLong ? 3 : 1
  for (let i = 0; i < count; i++) {
    const { value, bytes } = readNumber(packed, at)
    numbers.push(value)
    at += bytes
  }
  return numbers
}

function readNumber(packed: Buffer, at: number): { value: number; bytes: number } {
  const kind = packed.readUInt8(at)
  switch (kind) {
    case UNSIGNED_8:
      return { value: packed.readUInt8(at + 1), bytes: 2 }
    case UNSIGNED_16:
      return { value: packed.readUInt16BE(at + 1), bytes: 3 }
    case UNSIGNED_32:
      return { value: packed.readUInt32BE(at + 1), bytes: 5 }
    case UNSIGNED_64:
      return { value: Number(packed.readBigUInt64BE(at + 1)), bytes: 9 }
    default:
      if (kind >= 0x80) throw new Error(`packed numbers have the kind ${kind.toString(16)}`)
      return { value: kind, bytes: 1 }
  }
}
