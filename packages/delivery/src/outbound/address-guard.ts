/**
 * The address guard decides to which addresses attempts may connect. It checks the address of every connection. A check
 * in the name look-up would not see addresses that are written in a URL. A check at subscribe time would not see that a
 * name changes later (DNS rebinding). The URL parser has already turned decimal, octal and hex forms of addresses into
 * dotted ones.
 */
import { isIP } from 'node:net'
import { AddressRules, hostName, type IpAddress } from '@fantail/policy'
import ipaddr from 'ipaddr.js'

interface AddressGuardOptions {
  /** Allows private, loopback, link-local and other special addresses. Addresses in `deny` stay refused. */
  allowPrivate: boolean
  /**
   * Exceptions: an address, a CIDR (`10.1.0.0/16`), a host name, or `*.example.com` for names below it. An exception
   * may be private. A host name allows every address that it resolves to.
   */
  allow?: string[]
  /** Same forms as `allow`. It has priority over every other rule. */
  deny?: string[]
}

export interface AddressGuard {
  /**
   * The reason to refuse a connection to this address, which was found for this host. Undefined: the connection is
   * allowed.
   */
  refusal(host: string, address: string): string | undefined
  /** Like `refusal`, for a host that the operator's settings name. Only `deny` can refuse it. */
  refusalOfTrusted(host: string, address: string): string | undefined
  /**
   * The reason why every connection to this host will be refused, if that is known without a name look-up. This is
   * known for literal addresses, denied names, and names that have the same address everywhere.
   */
  refusalBeforehand(host: string): string | undefined
  /**
   * The reason to refuse a connection to this host through a proxy, which resolves the name itself. A name is checked
   * against the lists and against local names, and a literal address like any address.
   */
  refusalThroughProxy(host: string): string | undefined
  /** Whether the address is public. No setting changes that. */
  isPublic(address: string): boolean
}

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const allow = new AddressRules(options.allow ?? [])
  const deny = new AddressRules(options.deny ?? [])
  const judge = (host: string, text: string, allowPrivate: boolean): string | undefined => {
    const address = parse(text)
    if (!address) return 'not an address'
    const inner = embedded(address)
    const matches = (rules: AddressRules) =>
      rules.hasHost(host) || rules.hasAddress(address) || (inner !== undefined && rules.hasAddress(inner))
    if (matches(deny)) return DENIED
    if (allowPrivate || matches(allow)) return undefined
    const refused = placesOf(address, inner).find((place) => !isPublic(place))
    return refused && `a ${rangeName(refused)} address`
  }
  const refusal = (host: string, address: string) => judge(host, address, options.allowPrivate)
  return {
    refusal,
    isPublic: (text) => {
      const address = parse(text)
      return address !== undefined && placesOf(address, embedded(address)).every(isPublic)
    },
    refusalOfTrusted: (host, address) => judge(host, address, true),
    refusalBeforehand: (host) => {
      if (isIP(host) !== 0) return refusal(host, host)
      if (deny.hasHost(host)) return DENIED
      const reasons = knownAddresses(host).map((address) => refusal(host, address))
      return reasons.includes(undefined) ? undefined : reasons[0]
    },
    refusalThroughProxy: (host) => {
      if (isIP(host) !== 0) return refusal(host, host)
      if (deny.hasHost(host)) return DENIED
      if (options.allowPrivate || allow.hasHost(host)) return undefined
      return isLocalName(host) ? 'a local name' : undefined
    },
  }
}

function parse(text: string): IpAddress | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.parse(text)
}

const DENIED = 'denied by configuration'
/** Names that are never public (RFC 6761, RFC 6762, RFC 9476, and names that clouds use inside). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa|lan|intranet|corp)\.*$/i

function isLocalName(host: string): boolean {
  return LOCAL_NAME.test(host) || !host.replace(/\.+$/, '').includes('.')
}

/** Loopback names of RFC 6761 §6.3, and those that Linux distributions write into /etc/hosts. */
const LOOPBACK_NAME =
  /^((.+\.)?localhost|localhost[46]?\.localdomain[46]?|localhost[46]|ip6-(localhost|loopback))$/
const LOOPBACK_ADDRESSES = ['127.0.0.1', '::1']
const METADATA_NAME = /^(metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/
const METADATA_ADDRESSES = ['169.254.169.254']

/** Addresses of a name that has the same addresses everywhere. */
function knownAddresses(host: string): string[] {
  const name = hostName(host)
  if (LOOPBACK_NAME.test(name)) return LOOPBACK_ADDRESSES
  return METADATA_NAME.test(name) ? METADATA_ADDRESSES : []
}

/** Azure's metadata and wire server has an address that looks public. */
const METADATA = new Set(['168.63.129.16'])
const GLOBAL_IPV6 = ipaddr.IPv6.parse('2000::')
const GLOBAL_IPV6_BITS = 3
/** RFC 9637. The library's list does not have it yet. */
const DOCUMENTATION_IPV6 = ipaddr.IPv6.parse('3fff::')
const DOCUMENTATION_IPV6_BITS = 20

/** Only global unicast is public. In IPv6 that is 2000::/3 without its special blocks. */
function isPublic(address: IpAddress): boolean {
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv4) return !METADATA.has(address.toString())
  if (address.match(DOCUMENTATION_IPV6, DOCUMENTATION_IPV6_BITS)) return false
  return address.match(GLOBAL_IPV6, GLOBAL_IPV6_BITS)
}

function rangeName(address: IpAddress): string {
  return METADATA.has(address.toString()) ? 'metadata' : address.range()
}

const NAT64 = ipaddr.IPv6.parse('64:ff9b::')
const SIX_TO_FOUR = ipaddr.IPv6.parse('2002::')
const MAPPED = ipaddr.IPv6.parse('::ffff:0:0')
const TRANSLATED = ipaddr.IPv6.parse('::ffff:0:0:0')
const COMPATIBLE = ipaddr.IPv6.parse('::')

/** Whether these are interface identifiers of ISATAP (RFC 5214 §6.1). Their prefix may be any. */
function isIsatap(bytes: number[]): boolean {
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
}

/**
 * Every address to judge. All must be public. The prefix of an ISATAP address may belong to a private network although
 * the embedded address is public.
 */
function placesOf(address: IpAddress, inner: ipaddr.IPv4 | undefined): IpAddress[] {
  if (inner === undefined) return [address]
  const hasOwnPrefix = isIsatap(address.toByteArray()) && !address.match(SIX_TO_FOUR, 16)
  return hasOwnPrefix ? [inner, address] : [inner]
}

/**
 * The IPv4 address that an IPv6 address leads to: mapped (RFC 4291), compatible (deprecated), translated (RFC 2765),
 * NAT64 (RFC 6052, the well-known prefix), 6to4 (RFC 3056), ISATAP. Teredo and the local NAT64 prefix are refused as
 * they are.
 */
function embedded(address: IpAddress): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined
  const bytes = address.toByteArray()
  if (address.match(SIX_TO_FOUR, 16)) return new ipaddr.IPv4(bytes.slice(2, 6))
  const last = () => new ipaddr.IPv4(bytes.slice(12))
  if ([NAT64, MAPPED, TRANSLATED].some((prefix) => address.match(prefix, 96))) return last()
  if (isIsatap(bytes)) return last()
  // `::` and `::1` are addresses of their own, not 0.0.0.0 and 0.0.0.1.
  const small = bytes.slice(12, 15).every((byte) => byte === 0)
  return address.match(COMPATIBLE, 96) && !small ? last() : undefined
}
