/**
 * Host names that local mode answers to. Local mode needs no key, and a web page in the user's browser can reach
 * loopback. An attacker's page may have a name that resolves to 127.0.0.1 (DNS rebinding). The browser sends this name
 * as Host, so the request is refused here. A name is not accepted because of its ending or form: `.internal`, `.test`
 * and single labels can belong to others.
 */
import { hostname } from 'node:os'
import { AddressRules, isAddressRule } from '@fantail/policy'
import { LRUCache } from 'lru-cache'

export interface OwnHostsSettings {
  mode: 'local' | 'server'
  /** FANTAIL_PUBLIC_URL */
  publicUrl?: string | undefined
  /** FANTAIL_HOSTS */
  hosts?: readonly string[] | undefined
}

export interface OwnHosts {
  /**
   * Whether requests with this Host header are served; a port is ignored. A request without Host is served, because
   * browsers always send one. Always true in server mode.
   */
  has(authority: string | undefined): boolean
}

const LOOPBACK = ['localhost', '*.localhost', '127.0.0.0/8', '::1']
/**
 * A Host header's value: a name or an address, perhaps with a port. Anything else is refused, even if a URL parser
 * accepts it.
 */
const AUTHORITY = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
/** Host headers whose check a process remembers. Past it: the least recently used one is forgotten. */
const HOSTS_REMEMBERED_MAX = 1_000

export function createOwnHosts(settings: OwnHostsSettings, machineName = hostname()): OwnHosts {
  const { mode, publicUrl, hosts = [] } = settings
  if (mode === 'server') return { has: () => true }
  const published = URL.parse(publicUrl ?? '')?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  const named = [machineName, published].filter(isAddressRule)
  const rules = new AddressRules([...LOOPBACK, ...named, ...hosts])
  const known = new LRUCache<string, boolean>({ max: HOSTS_REMEMBERED_MAX })
  const has = (authority: string | undefined): boolean => {
    if (authority === undefined) return true
    let own = known.get(authority)
    if (own === undefined) {
      const host = hostOf(authority)
      own = host !== undefined && rules.has(host)
      known.set(authority, own)
    }
    return own
  }
  return { has }
}

/** The error text for a refused host: the reason, and the setting to change. */
export function foreignHostText(authority: string): string {
  return (
    `${authority} is not a name of this machine, and without keys only this machine is served: ` +
    'to serve that name, add it to FANTAIL_HOSTS, or set FANTAIL_PUBLIC_URL if it is the public one'
  )
}

/** The host as URLs spell it: lower case, addresses in their usual form. */
function hostOf(authority: string): string | undefined {
  const [, host] = AUTHORITY.exec(authority) ?? []
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname
}
