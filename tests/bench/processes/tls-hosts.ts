/**
 * Many hosts that speak TLS 1.3, on loopback addresses of their own. Each has its own certificate and session tickets,
 * as endpoints of different customers have. All certificates are of one authority.
 */
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { createAuthority } from '@fantail/test-kit'

/** Connections since the start. */
export interface TlsConnections {
  opened: number
  /** Those whose session was resumed. */
  resumed: number
  /** Those that are open now. */
  open: number
}

export class TlsHosts {
  /** PEM. */
  readonly authority: string
  readonly addresses: string[]
  readonly connections: TlsConnections = { opened: 0, resumed: 0, open: 0 }
  readonly #contexts = new Map<string, SecureContext>()

  constructor(count: number) {
    const authority = createAuthority()
    this.authority = authority.cert
    this.addresses = Array.from({ length: count }, (_, n) => `127.1.${n >> 8}.${n & 255}`)
    for (const address of this.addresses)
      this.#contexts.set(
        address,
        createSecureContext({ ...authority.issue([address]), minVersion: 'TLSv1.3' }),
      )
  }

  secured(socket: Socket): Socket {
    const secureContext = this.#contexts.get(socket.localAddress ?? '')
    if (!secureContext) throw new Error(`no such host: ${socket.localAddress}`)
    const secured = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
    const { connections } = this
    connections.open++
    secured.once('close', () => connections.open--)
    secured.once('secure', () => {
      connections.opened++
      if (secured.isSessionReused()) connections.resumed++
    })
    return secured
  }
}
