/**
 * Opens a connection for one origin. The name is resolved, the guard checks every address, and the allowed ones are
 * dialled side by side (address-race.ts). A socket dials an address, not the name, so the name cannot resolve to
 * another address after the check.
 *
 * With a proxy, the proxy is resolved, checked and dialled. The guard checks only the origin's host as it is written,
 * because the proxy resolves it. The environment changes nothing here: HTTP_PROXY and NODE_TLS_REJECT_UNAUTHORIZED are
 * ignored.
 */
import { isIP, type Socket } from 'node:net'
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { AddressGuard } from '../outbound/address-guard.ts'
import type { ProxyAddress } from '../outbound/outbound-route.ts'
import type { Resolver } from '../outbound/resolver.ts'
import { raceAddresses } from './address-race.ts'
import type { DialFacts, Origin } from './dial-facts.ts'
import { openTunnel } from './proxy-tunnel.ts'
import { TlsLoad } from './tls-load.ts'

/** The address guard has refused the connection. */
export class ForbiddenAddressError extends Error {
  constructor(host: string, reason: string) {
    super(`${host}: ${reason}`)
    this.name = 'ForbiddenAddressError'
  }
}

class TicketsError extends Error {
  readonly code = 'ERR_TLS_TICKETS'

  constructor() {
    super(`the endpoint sent more than ${TLS_TICKETS_MAX} session tickets`)
  }
}

type ConnectCallback = (error: Error | null, socket: Socket | null) => void

/** A dial that can be canceled. Its callback is called at most once. */
export interface Dial {
  cancel(): void
  /** Absent in tests. */
  facts?: DialFacts
  /**
   * Whether the dialled name still leads to the address of the connection. Rejects if its addresses are not known now.
   * Absent in tests.
   */
  isCurrent?(): Promise<boolean>
}

export type Connector = (origin: Origin, callback: ConnectCallback) => Dial

interface ConnectorOptions {
  guard: AddressGuard
  resolver: Resolver
  /** PEM certificates trusted instead of the system's. */
  ca?: string | string[]
}

/**
 * TLS session tickets of a connection. Past it: the connection is closed, and its attempt has failed. Servers send two
 * or so. Each costs more than its bytes do.
 */
const TLS_TICKETS_MAX = 50
/** TLS sessions kept for resumption. Past it: the least recently used one is forgotten. */
const TLS_SESSIONS_MAX = 2_000
const KEEP_ALIVE_PROBE_MS = 60_000

export function createConnector({ guard, resolver, ca }: ConnectorOptions): Connector {
  const sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX })
  const load = new TlsLoad()
  /** Shared, because each context takes 0.2 ms and 14 to 42 KB. */
  let context: SecureContext | undefined
  const ownContext = () => {
    context ??= createSecureContext({ ca })
    return context
  }

  const open = (dialled: Origin, opening: Opening): void => {
    const { addresses, done, track, facts } = opening
    const cancel = raceAddresses({ addresses, port: dialled.port }, (error, socket) => {
      if (!socket) return done(error, null)
      facts.connectedAt = performance.now()
      track(() => socket.destroy())
      socket.setNoDelay(true)
      socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
      // This listener stays for the socket's life. After the socket is handed over, undici's own listener gets its
      // errors too.
      socket.on('error', (failed) => done(failed, null))
      if (dialled.secure) openTls(socket, dialled, opening)
      else done(null, socket)
    })
    track(cancel)
  }

  const openTls = (carrier: Socket, origin: Origin, { done, track }: Opening): void => {
    try {
      const socket = tlsOver(carrier, origin)
      track(() => socket.destroy())
      socket.once('secureConnect', () => done(null, socket))
      socket.on('error', (error) => done(error, null))
    } catch (error) {
      // The key or certificate cannot be used. A throw would reach no caller here.
      done(error as Error, null)
    }
  }

  const tlsOver = (carrier: Socket, { host, port, route, alpn }: Origin): TLSSocket => {
    const protocol = alpn ?? 'http/1.1'
    const key = `${protocol} ${host}:${port}${route ? ` ${route.key}` : ''}`
    const socket = connectTls({
      socket: carrier,
      host,
      // A name in SNI has no dot at its end (RFC 6066 §3).
      ...(isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
      session: sessions.get(key),
      secureContext: route?.secureContext() ?? ownContext(),
      rejectUnauthorized: true,
      checkServerIdentity,
      ALPNProtocols: [protocol],
    })
    load.watch(socket, carrier)
    let tickets = 0
    socket.on('session', (ticket: Buffer) => {
      sessions.set(key, ticket)
      tickets++
      if (tickets > TLS_TICKETS_MAX) socket.destroy(new TicketsError())
    })
    return socket
  }

  const openThrough = (proxy: ProxyAddress, origin: Origin, opening: Opening): void => {
    const { done } = opening
    // The origin's client certificate is not shown to the proxy.
    const own = { secure: proxy.secure, host: proxy.host, port: proxy.port }
    const opened: ConnectCallback = (error, tunnel) => {
      if (error || !tunnel) return done(error, null)
      openTunnel(tunnel, origin, proxy, (refusal) => {
        if (refusal || !origin.secure) return done(refusal, refusal ? null : tunnel)
        openTls(tunnel, origin, opening)
      })
    }
    open(own, { ...opening, done: opened })
  }

  return (origin, callback) => {
    const closers: (() => void)[] = []
    let over = false
    const end = () => {
      over = true
      for (const close of closers) close()
    }
    let address = ''
    const done: ConnectCallback = (error, connected) => {
      if (over) return
      if (error) end()
      over = true
      if (connected && origin.secure) facts.securedAt = performance.now()
      address = connected?.remoteAddress ?? ''
      callback(error, connected)
    }
    const track = (close: () => void) => {
      closers.push(close)
    }
    const proxy = origin.route?.proxy
    const refusal = proxy && guard.refusalThroughProxy(origin.host)
    const dialled = proxy ?? origin
    const facts: DialFacts = {
      startedAt: performance.now(),
      isProxied: proxy !== undefined,
      isSecure: origin.secure,
      isPublic: () => !proxy && !origin.route?.isTrusted && guard.isPublic(address),
    }
    const found = async () => {
      if (refusal !== undefined) throw new ForbiddenAddressError(origin.host, refusal)
      return addressesFor(dialled.host, resolver, refusalBy(guard, origin))
    }
    found()
      .then((addresses) => {
        if (over) return
        facts.resolvedAt = performance.now()
        const opening = { addresses, done, track, facts }
        if (proxy) openThrough(proxy, origin, opening)
        else open(origin, opening)
      })
      .catch((error: Error) => done(error, null))
    return { cancel: end, facts, isCurrent: async () => (await found()).includes(address) }
  }
}

interface Opening {
  addresses: string[]
  done: ConnectCallback
  /** Gets what closes each socket, so that cancelling the dial closes all of them. */
  track(close: () => void): void
  /** Gets the times of the dial. */
  facts: DialFacts
}

type Refusal = (host: string, address: string) => string | undefined

function refusalBy(guard: AddressGuard, { route }: Origin): Refusal {
  return route?.isTrusted ? guard.refusalOfTrusted : guard.refusal
}

/** The addresses that may be dialled. Refused addresses are left out. If none is left, the dial is refused. */
async function addressesFor(host: string, resolver: Resolver, refusalOf: Refusal): Promise<string[]> {
  const found = isIP(host) === 0 ? await resolver.resolve(host) : [host]
  let reason = 'no address'
  const allowed = found.filter((address) => {
    const refusal = refusalOf(host, address)
    reason = refusal ?? reason
    return refusal === undefined
  })
  if (allowed.length === 0) throw new ForbiddenAddressError(host, reason)
  return allowed
}
