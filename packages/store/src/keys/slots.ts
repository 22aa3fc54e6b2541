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

/**
 * The hash tags of dispatch queues. If n masters (up to 14) divide the slots evenly, the first n queues are on n
 * different masters. No list can achieve that for more than 17. A changed tag would orphan the data that is stored
 * under it.
 */
const SUFFIXES = (
  '- zo vy a0 dv ps jf ou pv fy bf us yy cc bf t3 qs gv kc cv zu mt tm by pt qp ow ao g2 ge ty p6 ' +
  'c6 t1 g3 pq am l8 ey qk xq qo in e4 c1 zm z1 ew g3 sw tt go cw fj zb dc ru x5 zl st kh xr uw ii'
).split(' ')

export const DISPATCH_QUEUES_MAX = SUFFIXES.length

export function dispatchTag(number: number): string {
  const suffix = SUFFIXES[number]
  if (suffix === undefined) throw new RangeError(`no dispatch queue ${number}`)
  return number === 0 ? 'dispatch-0' : `dispatch-${number}${suffix}`
}
