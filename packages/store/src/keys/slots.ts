/**
 * The Redis Cluster slot of a key: CRC-16 (XMODEM) of its hash tag, modulo 16384. Without a hash tag, the whole key
 * counts.
 */
export const SLOT_COUNT = 16_384

export function keySlot(key: string): number {
  let crc = 0
  for (const byte of Buffer.from(hashTag(key))) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  }
  return (crc & 0xffff) % SLOT_COUNT
}

function hashTag(key: string): string {
  const open = key.indexOf('{')
  const close = key.indexOf('}', open + 1)
  return open >= 0 && close > open + 1 ? key.slice(open + 1, close) : key
}
