/**
 * Opens a connection for one origin. The name is resolved, the guard checks every address, and the allowed ones are
 * dialled (RFC 8305 if there are several). The socket dials an address, not the name, so the name cannot resolve to
 * another address after the check.
 *
 * With a proxy, the proxy is resolved, checked and dialled. The guard checks only the origin's host as it is written,
 * because the proxy resolves it. The environment changes nothing here: HTTP_PROXY and NODE_TLS_REJECT_UNAUTHORIZED are
 * ignored.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { AddressGuard } from '../outbound/address-guard.ts'
import type { ProxyAddress } from '../outbound/outbound-route.ts'
import { openTunnel } from '../outbound/proxy-tunnel.ts'
import type { Resolver } from '../outbound/resolver.ts'
import type { Origin } from './connection-origin.ts'
import type { DialFacts } from './dial-facts.ts'

/** The address guard has refused the connection. */
export class ForbiddenAddressError extends Error {
  constructor(host: string, reason: string) {
    super(`${host}: ${reason}`)
    this.name = 'ForbiddenAddressError'
  }
}

type ConnectCallback = (error: Error | null, socket: Socket | null) => void

/** A dial that can be cancelled. Its callback is called at most once. */
export interface Dial {
  cancel(): void
  /** Absent in tests. */
  facts?: DialFacts
}

export type Connector = (origin: Origin, callback: ConnectCallback) => Dial

interface ConnectorOptions {
  guard: AddressGuard
  resolver: Resolver
  /** PEM certificates trusted instead of the system's. */
  ca?: string | string[]
}

/** @limit TLS sessions kept for resumption. Past it: the least recently used one is forgotten. */
const TLS_SESSIONS_MAX = 2_000
const KEEP_ALIVE_PROBE_MS = 60_000

export function createConnector({ guard, resolver, ca }: ConnectorOptions): Connector {
  const sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX })

  /** `track` gets each socket, so that cancelling the dial closes every socket. */
  const open = (dialled: Origin, { addresses, done, track, facts }: Opening): Socket => {
    const target = {
      host: dialled.host,
      port: dialled.port,
      lookup: lookupOf(addresses),
      autoSelectFamily: true,
    }
    const socket = dialled.secure ? openTls(dialled, target) : connectTcp(target)
    track(socket)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
    socket.once('connect', () => {
      facts.connectedAt = performance.now()
    })
    socket.once(dialled.secure ? 'secureConnect' : 'connect', () => done(null, socket))
    // This listener stays for the socket's life. After the socket is handed over, undici's own listener gets its errors
    // too.
    socket.on('error', (error) => done(error, null))
    return socket
  }

  const openTls = (origin: Origin, target: object): TLSSocket => {
    const { route, alpn = 'http/1.1' } = origin
    const key = `${alpn} ${origin.host}:${origin.port}${route ? ` ${route.key}` : ''}`
    const session = sessions.get(key)
    const name = isIP(origin.host) === 0 ? { servername: origin.host } : {}
    const secureContext = route?.secureContext()
    const socket = connectTls({
      ...target,
      ...name,
      session,
      ...(secureContext ? { secureContext } : { ca }),
      rejectUnauthorized: true,
      checkServerIdentity,
      ALPNProtocols: [alpn],
    })
    socket.on('session', (ticket: Buffer) => sessions.set(key, ticket))
    return socket
  }

  const openTlsIn = (tunnel: Socket, origin: Origin, { done, track }: Opening): void => {
    try {
      const socket = openTls(origin, { host: origin.host, socket: tunnel })
      track(socket)
      socket.once('secureConnect', () => done(null, socket))
      socket.on('error', (error) => done(error, null))
    } catch (error) {
      // The key or certificate cannot be used. A throw would reach no caller here.
      done(error as Error, null)
    }
  }

  const openThrough = (proxy: ProxyAddress, origin: Origin, opening: Opening): void => {
    const { done } = opening
    // The origin's client certificate is not shown to the proxy.
    const own = { secure: proxy.secure, host: proxy.host, port: proxy.port }
    const opened: ConnectCallback = (error, tunnel) => {
      if (error || !tunnel) return done(error, null)
      openTunnel(tunnel, origin, proxy, (refusal) => {
        if (refusal || !origin.secure) return done(refusal, refusal ? null : tunnel)
        openTlsIn(tunnel, origin, opening)
      })
    }
    open(own, { ...opening, done: opened })
  }

  return (origin, callback) => {
    const sockets: Socket[] = []
    let over = false
    const end = () => {
      over = true
      for (const socket of sockets) socket.destroy()
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
    const track = (socket: Socket) => {
      sockets.push(socket)
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
    const found =
      refusal === undefined
        ? addressesFor(dialled.host, resolver, refusalBy(guard, origin))
        : Promise.reject(new ForbiddenAddressError(origin.host, refusal))
    found
      .then((addresses) => {
        if (over) return
        facts.resolvedAt = performance.now()
        const opening = { addresses, done, track, facts }
        if (proxy) openThrough(proxy, origin, opening)
        else open(origin, opening)
      })
      .catch((error: Error) => done(error, null))
    return { cancel: end, facts }
  }
}

interface Opening {
  addresses: string[]
  done: ConnectCallback
  track(socket: Socket): void
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

/** Node does not call this for a literal address. `addressesFor` has checked that address itself. */
function lookupOf(addresses: string[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) {
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      )
    } else {
      const address = addresses[0] ?? ''
      callback(null, address, isIP(address))
    }
  }
}
