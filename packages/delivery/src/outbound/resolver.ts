/**
 * Resolves names without `dns.lookup`, which blocks one of four threads per name. It reads /etc/hosts, then asks
 * c-ares. Answers are kept for their time to live, within limits. Failures are kept for a second. Concurrent look-ups
 * of one name share one query. Search domains of resolv.conf are not applied, because names count as complete.
 */
import type { RecordWithTtl } from 'node:dns'
import { Resolver as DnsResolver } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import { HostsFile } from './hosts-file.ts'

export interface Resolver {
  /** Addresses to try, in order; never empty. Rejects with a `NameError`. */
  resolve(name: string): Promise<string[]>
}

/** The name has no address now. `code` is c-ares's (`ENOTFOUND`, `ESERVFAIL`…) or `ETIMEOUT`. */
export class NameError extends Error {
  readonly code: string

  constructor(name: string, code: string) {
    super(`cannot resolve ${name} (${code})`)
    this.name = 'NameError'
    this.code = code
  }
}

interface ResolverOptions {
  /** Time limit of one look-up with all its queries. Default: 2 s. */
  timeoutMs?: number
  ttlMinMs?: number
  ttlMaxMs?: number
  failureTtlMs?: number
  namesMax?: number
  hostsPath?: string
  /** `host:port` of name servers; default: the system's. */
  servers?: string[]
}

interface Answer {
  addresses: string[]
  ttlMs: number
}

const DEFAULTS = {
  /** @limit One name lookup. Past it: the attempt has failed. */
  timeoutMs: 2_000,
  /** Shortest time for which an address is kept. */
  ttlMinMs: 1_000,
  /** Longest time for which an address is kept. After it: the name is looked up again. */
  ttlMaxMs: 60_000,
  /** How long a failed lookup is remembered. After it: the name is looked up again. */
  failureTtlMs: 1_000,
  /** Names whose addresses are kept. Past it: the least recently used one is forgotten. */
  namesMax: 10_000,
  hostsPath: '/etc/hosts',
}
/** How long to wait for IPv6 addresses after IPv4 ones have come. Some name servers never answer AAAA queries. */
const SECOND_FAMILY_MS = 50
const SERVERS_REREAD_MS = 5_000

export function createResolver(options: ResolverOptions = {}): Resolver {
  const settings = { ...DEFAULTS, ...options }
  const hosts = new HostsFile(settings.hostsPath)
  const names = new NameServers(settings.timeoutMs, options.servers)
  const known = new LRUCache<string, Promise<string[]>>({
    maxSize: settings.namesMax,
    sizeCalculation: () => 1,
  })

  const query = (name: string): Promise<string[]> => {
    const answer = names.query(name)
    const addresses = answer.then((found) => found.addresses)
    const keep = (ttl: number) => {
      // If another query has replaced this entry meanwhile, the new entry keeps its own time.
      if (known.peek(name) === addresses) known.set(name, addresses, { ttl })
    }
    answer.then(
      ({ ttlMs }) => keep(Math.min(Math.max(ttlMs, settings.ttlMinMs), settings.ttlMaxMs)),
      () => keep(settings.failureTtlMs),
    )
    known.set(name, addresses)
    return addresses
  }

  return {
    resolve: async (host) => {
      const name = host.toLowerCase().replace(/\.$/, '')
      const local = await hosts.lookup(name, performance.now())
      if (local) return local
      // By RFC 6761 §6.3 no name server is asked for these names.
      if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
      return known.get(name) ?? query(name)
    },
  }
}

class NameServers {
  readonly #timeoutMs: number
  readonly #servers: string[] | undefined
  #dns: DnsResolver
  #createdAt: number

  constructor(timeoutMs: number, servers: string[] | undefined) {
    this.#timeoutMs = timeoutMs
    this.#servers = servers
    this.#dns = this.#create()
    this.#createdAt = performance.now()
  }

  async query(name: string): Promise<Answer> {
    const bound = createBound(this.#timeoutMs)
    try {
      const dns = this.#dns
      const v4 = settle(dns.resolve4(name, { ttl: true }))
      const v6 = settle(dns.resolve6(name, { ttl: true }))
      const first = await Promise.race([v4, bound.over])
      const wait = first.records.length > 0 ? createBound(SECOND_FAMILY_MS) : bound
      const second = await Promise.race([v6, wait.over])
      wait.clear()
      return this.#answer(name, [...first.records, ...second.records], first.code ?? second.code)
    } finally {
      bound.clear()
    }
  }

  #answer(name: string, records: RecordWithTtl[], code: string | undefined): Answer {
    const [nearest] = records.map(({ ttl }) => ttl).sort((a, b) => a - b)
    if (nearest !== undefined) {
      return { addresses: records.map(({ address }) => address), ttlMs: nearest * 1_000 }
    }
    this.#reread()
    throw new NameError(name, code ?? 'ENODATA')
  }

  /** c-ares reads resolv.conf once. The file may have changed when a query fails, so c-ares reads it again. */
  #reread(): void {
    if (performance.now() - this.#createdAt < SERVERS_REREAD_MS) return
    this.#dns = this.#create()
    this.#createdAt = performance.now()
  }

  #create(): DnsResolver {
    const dns = new DnsResolver({ timeout: Math.ceil(this.#timeoutMs / 3), tries: 2 })
    if (this.#servers) dns.setServers(this.#servers)
    return dns
  }
}

interface Settled {
  records: RecordWithTtl[]
  code?: string
}

function settle(records: Promise<RecordWithTtl[]>): Promise<Settled> {
  return records.then(
    (found) => ({ records: found }),
    (error: NodeJS.ErrnoException) => ({ records: [], code: error.code ?? 'EUNKNOWN' }),
  )
}

function createBound(ms: number): { over: Promise<Settled>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<Settled>((resolve) => {
    // Node runs due timers before it reads sockets, and the answer may have come while the process stood still.
    timer = setTimeout(() => setImmediate(resolve, { records: [], code: 'ETIMEOUT' }), ms)
  })
  return { over, clear: () => clearTimeout(timer) }
}
