/**
 * Lists of addresses and hosts, as operators write them: an address, a CIDR (`10.1.0.0/16`), a host name, or
 * `*.example.com` for the names below it. `010.0.0.1`, `10.1` and `2130706433` mean different addresses to different
 * programs. They are therefore refused, both as addresses and as names.
 */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6
type Cidr = [IpAddress, number]

const NAME =
  /^(?=.{1,253}$)(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A URL parser reads a host that ends in a number as an address, never as a name. */
const NUMERIC_END = /(^|\.)(\d+|0x[0-9a-f]*)$/

type Rule = { cidr: Cidr } | { host: string } | { suffix: string }

export function isAddressRule(text: string): boolean {
  return readRule(text) !== undefined
}

/** The common form of all spellings of a name: lower case, ASCII, no dots at its ends. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/\.+$/, '')
}

export class AddressRules {
  readonly #cidrs: Cidr[] = []
  readonly #hosts = new Set<string>()
  readonly #suffixes: string[] = []

  /** Throws a TypeError that names the invalid entry. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const rule = readRule(entry)
      if (!rule) throw new TypeError(`'${entry}' is neither an address, a CIDR nor a host name`)
      if ('cidr' in rule) this.#cidrs.push(rule.cidr)
      else if ('host' in rule) this.#hosts.add(rule.host)
      else this.#suffixes.push(rule.suffix)
    }
  }

  /**
   * Whether a rule covers the host. The host is written as in a URL: a name, an IPv4 address, or an IPv6 address in
   * brackets. An IPv4-mapped IPv6 address counts as its IPv4 address.
   */
  has(host: string): boolean {
    const address = host.replace(/^\[(.*)\]$/, '$1')
    return isIP(address) === 0 ? this.hasHost(host) : this.hasAddress(ipaddr.process(address))
  }

  hasHost(host: string): boolean {
    if (this.#hosts.size === 0 && this.#suffixes.length === 0) return false
    const name = hostName(host)
    return this.#hosts.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix))
  }

  hasAddress(address: IpAddress): boolean {
    return this.#cidrs.some(([range, bits]) => {
      if (range instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(range, bits)
      return address instanceof ipaddr.IPv6 && address.match(range, bits)
    })
  }
}

function readRule(entry: string): Rule | undefined {
  const text = entry.trim()
  const [address = '', bits, ...more] = text.split('/')
  if (isIP(address) !== 0 && !address.includes('%') && more.length === 0) return readCidr(address, bits)
  const name = domainToASCII(hostName(text).replace(/^\*\./, ''))
  if (!NAME.test(name) || NUMERIC_END.test(name)) return undefined
  return text.startsWith('*.') ? { suffix: `.${name}` } : { host: name }
}

function readCidr(address: string, bits: string | undefined): Rule | undefined {
  const most = isIP(address) === 4 ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return undefined
  return { cidr: [ipaddr.parse(address), bits === undefined ? most : Number(bits)] }
}
