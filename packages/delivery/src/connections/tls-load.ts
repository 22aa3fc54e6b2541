/**
 * Ends TLS connections that load the process without content. A peer may send changes of its keys and other records of
 * TLS without an end. Each costs more than its bytes do, and only OpenSSL sees them. One look at all connections is
 * cheaper than a timer for each. If the process is too busy to look, it looks once between any two reads of a socket.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** Bytes of a TLS connection without content. Past it: the connection is closed, and its attempt has failed. */
const EMPTY_BYTES_MAX = 262_144
/** A record has about 22 bytes besides its content, and the content may be a single byte. */
const BYTES_PER_CONTENT = 32
const TLS_LOOK_MS = 100

class TlsLoadError extends Error {
  readonly code = 'ERR_TLS_LOAD'

  constructor() {
    super(`the endpoint sent more than ${EMPTY_BYTES_MAX} bytes of TLS without content`)
  }
}

export class TlsLoad {
  /** The connections, with what carries them. */
  readonly #carriers = new Map<TLSSocket, Socket>()
  #timer: NodeJS.Timeout | undefined

  watch(socket: TLSSocket, carrier: Socket): void {
    this.#carriers.set(socket, carrier)
    socket.once('close', () => this.#forget(socket))
    this.#timer ??= setInterval(() => this.#look(), TLS_LOOK_MS).unref()
  }

  #forget(socket: TLSSocket): void {
    this.#carriers.delete(socket)
    if (this.#carriers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    for (const [socket, { bytesRead }] of this.#carriers)
      if (bytesRead > EMPTY_BYTES_MAX + BYTES_PER_CONTENT * socket.bytesRead)
        socket.destroy(new TlsLoadError())
  }
}
