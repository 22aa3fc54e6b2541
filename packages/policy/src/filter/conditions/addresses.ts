/**
 * IP addresses as texts of two (IPv4) or eight (IPv6) code units, each with 16 bits of the address. Equal addresses are
 * equal texts, and a greater address is a greater text. A body of 256 KB may hold 40,000 addresses, so this code reads
 * each in one pass. ipaddr.js reads the addresses in policies, and a test compares the two ways of reading.
 */
import ipaddr from 'ipaddr.js'

/**
 * Text of an address. Past it: the text is no address and matches nothing. The longest spelling is an IPv6 address that
 * ends in an IPv4 one.
 */
const ADDRESS_CHARS_MAX = 45
const ADDRESS_GROUPS = 8
/** Digits of a group of an IPv6 address. Past it: the text is no address. */
const DIGITS_MAX = 4
const V4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/
/** An IPv4 address at the end of an IPv6 one, where leading zeros are allowed. */
const LOOSE_V4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/
const COLON = 58
const DOT = 46

type Ip = ipaddr.IPv4 | ipaddr.IPv6

/** The address that a policy names, read strictly. undefined: the text is no address. */
export function parseAddress(text: string): Ip | undefined {
  if (text.length > ADDRESS_CHARS_MAX || !/^[\da-fA-F:.]+$/.test(text)) return undefined
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined
}

export function keyOfAddress(ip: Ip): string {
  const bytes = ip.toByteArray()
  const units: number[] = []
  for (let i = 0; i < bytes.length; i += 2) units.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0))
  return String.fromCharCode(...units)
}

/** First and last address of a block. */
export function blockOf(ip: Ip, bits: number): { low: string; high: string } {
  const key = keyOfAddress(ip)
  const units = [...Array(key.length).keys()].map((i) => key.charCodeAt(i))
  const hosts = units.map((_, i) => 0xffff >> Math.min(16, Math.max(0, bits - 16 * i)))
  return {
    low: String.fromCharCode(...units.map((unit, i) => unit & ~(hosts[i] as number))),
    high: String.fromCharCode(...units.map((unit, i) => unit | (hosts[i] as number))),
  }
}

/** The key of the address in a message's text. undefined: the text is no address. */
export function addressKey(text: string): string | undefined {
  if (text.length < 2 || text.length > ADDRESS_CHARS_MAX) return undefined
  let hasColon = false
  let hasDot = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === COLON) hasColon = true
    else if (code === DOT) hasDot = true
    else if (hexDigit(code) < 0) return undefined
  }
  if (hasColon) return hasDot ? keyOfMixed(text) : keyOfV6(text)
  return hasDot ? keyOfV4(text) : undefined
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function keyOfV4(text: string, form = V4): string | undefined {
  const parts = form.exec(text)
  if (!parts) return undefined
  const [a, b, c, d] = [Number(parts[1]), Number(parts[2]), Number(parts[3]), Number(parts[4])]
  return a > 255 || b > 255 || c > 255 || d > 255
    ? undefined
    : String.fromCharCode((a << 8) | b, (c << 8) | d)
}

/** The groups of the address that is being read. One array serves all calls. */
const groups = new Uint16Array(ADDRESS_GROUPS)

function keyOfV6(text: string): string | undefined {
  let count = 0
  /** How many groups come before `::`. */
  let gap = -1
  let i = 0
  if (text.startsWith('::')) {
    gap = 0
    i = 2
  }
  while (i < text.length) {
    const from = i
    let group = 0
    for (; i < text.length; i++) {
      const digit = hexDigit(text.charCodeAt(i))
      if (digit < 0) break
      group = group * 16 + digit
    }
    if (i === from || i - from > DIGITS_MAX || count === ADDRESS_GROUPS) return undefined
    groups[count++] = group
    if (i === text.length) break
    i++
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return undefined
      gap = count
      i++
    } else if (i === text.length) return undefined
  }
  return keyOfGroups(count, gap)
}

function keyOfGroups(count: number, gap: number): string | undefined {
  if (gap < 0 ? count < ADDRESS_GROUPS : count >= ADDRESS_GROUPS) return undefined
  if (gap >= 0) {
    groups.copyWithin(ADDRESS_GROUPS - count + gap, gap, count)
    groups.fill(0, gap, ADDRESS_GROUPS - count + gap)
  }
  const [a, b, c, d, e, f, g, h] = groups as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return String.fromCharCode(a, b, c, d, e, f, g, h)
}

/**
 * The key of an IPv6 address whose last 32 bits are spelled as an IPv4 one. After `::` alone it is a mapped address.
 */
function keyOfMixed(text: string): string | undefined {
  const at = text.lastIndexOf(':') + 1
  const end = keyOfV4(text.slice(at), LOOSE_V4)
  if (end === undefined) return undefined
  const before = at === 2 && text.startsWith('::') ? '::ffff:' : text.slice(0, at)
  return keyOfV6(`${before}${end.charCodeAt(0).toString(16)}:${end.charCodeAt(1).toString(16)}`)
}
