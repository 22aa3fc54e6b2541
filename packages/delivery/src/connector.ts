/**
 * Opens a connection for one origin: resolve, guard every address, dial what is left (RFC 8305 where there are several).
 * The socket is dialled by address, so nothing can resolve to something else between check and use.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { AddressGuard } from './address-guard.ts'
import type { Resolver } from './resolver.ts'

/** A connection that the address guard does not let through. */
export class ForbiddenAddressError extends Error {
  constructor(host: string, reason: string) {
    super(`${host}: ${reason}`)
    this.name = 'ForbiddenAddressError'
  }
}

export interface Origin {
  secure: boolean
  /** Host name or address, an IPv6 one without brackets. */
  host: string
  port: number
}

export type ConnectCallback = (error: Error | null, socket: Socket | null) => void

/** A dial that can be called off; its callback is called at most once. */
export interface Dial {
  cancel(): void
}

export type Connector = (origin: Origin, callback: ConnectCallback) => Dial

export interface ConnectorOptions {
  guard: AddressGuard
  resolver: Resolver
  /** PEM certificates trusted instead of the system's. */
  ca?: string | string[]
}

const TLS_SESSIONS_MAX = 2_000
const KEEP_ALIVE_PROBE_MS = 60_000

export function createConnector({ guard, resolver, ca }: ConnectorOptions): Connector {
  const sessions = new LRUCache<string, Buffer>({ max: TLS_SESSIONS_MAX })

  const open = (origin: Origin, addresses: string[], done: ConnectCallback): Socket => {
    const target = {
      host: origin.host,
      port: origin.port,
      lookup: lookupOf(addresses),
      autoSelectFamily: true,
    }
    const socket = origin.secure ? openTls(origin, target) : connectTcp(target)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_PROBE_MS)
    socket.once(origin.secure ? 'secureConnect' : 'connect', () => done(null, socket))
    // Stays for the socket's life: an error after the hand-over has undici's own listener too.
    socket.on('error', (error) => done(error, null))
    return socket
  }

  const openTls = (origin: Origin, target: object): TLSSocket => {
    const key = `${origin.host}:${origin.port}`
    const session = sessions.get(key)
    const name = isIP(origin.host) === 0 ? { servername: origin.host } : {}
    const socket = connectTls({
      ...target,
      ...name,
      session,
      ca,
      checkServerIdentity,
      ALPNProtocols: ['http/1.1'],
    })
    socket.on('session', (ticket: Buffer) => sessions.set(key, ticket))
    return socket
  }

  return (origin, callback) => {
    let socket: Socket | undefined
    let over = false
    const done: ConnectCallback = (error, connected) => {
      if (over) return
      over = true
      callback(error, connected)
    }
    addressesFor(origin.host, guard, resolver).then(
      (addresses) => {
        if (!over) socket = open(origin, addresses, done)
      },
      (error: Error) => done(error, null),
    )
    return {
      cancel: () => {
        over = true
        socket?.destroy()
      },
    }
  }
}

/** What may be dialled; of several addresses the refused ones are left out, and none left is a refusal. */
async function addressesFor(host: string, guard: AddressGuard, resolver: Resolver): Promise<string[]> {
  const found = isIP(host) === 0 ? await resolver.resolve(host) : [host]
  let reason = 'no address'
  const allowed = found.filter((address) => {
    const refusal = guard.refusal(host, address)
    reason = refusal ?? reason
    return refusal === undefined
  })
  if (allowed.length === 0) throw new ForbiddenAddressError(host, reason)
  return allowed
}

/** Node does not ask it for literal addresses, which `addressesFor` has checked as they are. */
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
