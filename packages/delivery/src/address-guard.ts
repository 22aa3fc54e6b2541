/**
 * Which addresses attempts may connect to. Checked on the address that is really dialled, for every connection, literal
 * addresses included: a check in a name lookup alone is passed by literals, and a check at subscribe time by a name that
 * changes its mind (DNS rebinding). URL parsing has already turned decimal, octal and hex forms into dotted ones.
 */
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Cidr = [Address, number]

export interface AddressGuardOptions {
  /** Lets private, loopback, link-local and other special addresses through; what `deny` names stays refused. */
  allowPrivate: boolean
  /**
   * Exceptions, each an address, a CIDR (`10.1.0.0/16`), a host name, or `*.example.com` for names below it. What is
   * allowed may be private. A host name allows whatever it resolves to.
   */
  allow?: string[]
  /** Same forms; wins over everything. */
  deny?: string[]
}

export interface AddressGuard {
  /** Why a connection to this address, dialled for this host, is refused; undefined where it may go ahead. */
  refusal(host: string, address: string): string | undefined
}

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const allow = new Rules(options.allow ?? [])
  const deny = new Rules(options.deny ?? [])
  return {
    refusal: (host, text) => {
      const address = parse(text)
      if (!address) return 'not an address'
      const inner = embedded(address)
      const matches = (rules: Rules) =>
        rules.hasHost(host) || rules.hasAddress(address) || (inner !== undefined && rules.hasAddress(inner))
      if (matches(deny)) return 'denied by configuration'
      if (options.allowPrivate || matches(allow)) return undefined
      return isPublic(inner ?? address) ? undefined : `a ${rangeName(inner ?? address)} address`
    },
  }
}

/** Throws a TypeError naming the entry that is neither a CIDR, an address nor a host name. */
class Rules {
  readonly #cidrs: Cidr[] = []
  readonly #hosts = new Set<string>()
  readonly #suffixes: string[] = []

  constructor(entries: string[]) {
    for (const entry of entries) this.#add(entry.trim().toLowerCase())
  }

  #add(entry: string): void {
    if (ipaddr.isValidCIDR(entry)) {
      const [address, bits] = ipaddr.parseCIDR(entry)
      this.#cidrs.push([address, bits])
    } else if (ipaddr.isValid(entry)) {
      const address = ipaddr.parse(entry)
      this.#cidrs.push([address, address.kind() === 'ipv4' ? 32 : 128])
    } else if (/^\*\.[a-z0-9._-]+$/.test(entry)) {
      this.#suffixes.push(entry.slice(1))
    } else if (/^[a-z0-9._-]+$/.test(entry)) {
      this.#hosts.add(entry.replace(/\.$/, ''))
    } else {
      throw new TypeError(`'${entry}' is neither an address, a CIDR nor a host name`)
    }
  }

  hasHost(host: string): boolean {
    if (this.#hosts.size === 0 && this.#suffixes.length === 0) return false
    const name = host.toLowerCase().replace(/\.$/, '')
    return this.#hosts.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix))
  }

  hasAddress(address: Address): boolean {
    return this.#cidrs.some(([range, bits]) => {
      if (range instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(range, bits)
      return address instanceof ipaddr.IPv6 && address.match(range, bits)
    })
  }
}

function parse(text: string): Address | undefined {
  const bare = text.startsWith('[') ? text.slice(1, -1) : text
  return ipaddr.isValid(bare) ? ipaddr.parse(bare) : undefined
}

/** Azure's metadata and wire server has an address that looks public. */
const METADATA = new Set(['168.63.129.16'])
const GLOBAL_IPV6: Cidr = [ipaddr.parse('2000::'), 3]

/** Global unicast and nothing else; in IPv6 that is 2000::/3 without its special blocks. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv4) return !METADATA.has(address.toString())
  return address.match(GLOBAL_IPV6[0] as ipaddr.IPv6, GLOBAL_IPV6[1])
}

function rangeName(address: Address): string {
  return METADATA.has(address.toString()) ? 'metadata' : address.range()
}

const NAT64 = ipaddr.IPv6.parse('64:ff9b::')
const SIX_TO_FOUR = ipaddr.IPv6.parse('2002::')
const MAPPED = ipaddr.IPv6.parse('::ffff:0:0')
const TRANSLATED = ipaddr.IPv6.parse('::ffff:0:0:0')
const COMPATIBLE = ipaddr.IPv6.parse('::')

/**
 * The IPv4 address that an IPv6 address leads to: mapped (RFC 4291), compatible (deprecated), translated (RFC 2765), NAT64
 * (RFC 6052, the well-known prefix), 6to4 (RFC 3056). Teredo and the local NAT64 prefix are refused as they are.
 */
function embedded(address: Address): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined
  const bytes = address.toByteArray()
  if (address.match(SIX_TO_FOUR, 16)) return new ipaddr.IPv4(bytes.slice(2, 6))
  const last = () => new ipaddr.IPv4(bytes.slice(12))
  if ([NAT64, MAPPED, TRANSLATED].some((prefix) => address.match(prefix, 96))) return last()
  // `::` and `::1` are addresses of their own, not 0.0.0.0 and 0.0.0.1.
  const small = bytes.slice(12, 15).every((byte) => byte === 0)
  return address.match(COMPATIBLE, 96) && !small ? last() : undefined
}
