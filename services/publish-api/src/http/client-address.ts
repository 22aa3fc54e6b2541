/**
 * How a caller reached the first trusted proxy: its address, and whether it used TLS. Each proxy adds the address that
 * has sent it a request to the end of `X-Forwarded-For`. The entries before may be false, because callers can send the
 * header too. So the list is read from its end, and the first address that is no trusted proxy is the caller. The last
 * value of `X-Forwarded-Proto` is that of a trusted proxy, too.
 */
import { isIP } from 'node:net'
import { AddressRules } from '@fantail/policy'

/** `peer`: the address at the other end of the connection. Undefined: there is no connection. */
export interface ReachedBy {
  addressOf(peer: string | undefined, forwardedFor: string | undefined): string | undefined
  /** undefined: no trusted proxy says it, so the connection itself decides. */
  isSecure(peer: string | undefined, forwardedProto: string | undefined): boolean | undefined
}

/** `trustedProxies`: addresses and CIDRs (FANTAIL_TRUSTED_PROXIES). */
export function createReachedBy(trustedProxies: readonly string[] = []): ReachedBy {
  if (trustedProxies.length === 0)
    return { addressOf: (peer) => peer && plain(peer), isSecure: () => undefined }
  const trusted = new AddressRules(trustedProxies)
  return { addressOf: callerBehind(trusted), isSecure: tlsBehind(trusted) }
}

const ENDS_WITH_HTTPS = /(^|,)\s*https\s*$/i

function tlsBehind(trusted: AddressRules): ReachedBy['isSecure'] {
  return (peer, forwardedProto) => {
    if (peer === undefined || forwardedProto === undefined || !trusted.has(plain(peer))) return undefined
    return ENDS_WITH_HTTPS.test(forwardedProto)
  }
}

function callerBehind(trusted: AddressRules): ReachedBy['addressOf'] {
  return (peer, forwardedFor = '') => {
    let address = peer && plain(peer)
    let end = forwardedFor.length
    while (address !== undefined && end > 0 && trusted.has(address)) {
      const start = forwardedFor.lastIndexOf(',', end - 1) + 1
      const hop = plain(withoutPort(forwardedFor.slice(start, end).trim()))
      // The proxy does not say who has called it, so the proxy itself is the last known address.
      if (isIP(hop) === 0) return address
      address = hop
      end = start - 1
    }
    return address
  }
}

/** An IPv4 address in IPv6 form becomes IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Some proxies add the port: `203.0.113.9:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop) ?? []
  return v6 ?? v4 ?? hop
}
