/**
 * Ends TLS connections that load the process without content. A peer may send changes of its keys and other records of
 * TLS without an end. Each costs more than its bytes do, and only OpenSSL sees them. One timer that looks at some
 * connections in turn is cheaper than a timer for each. If the process is too busy to look, it looks once between any
 * two reads of a socket. If it has little to do, no flood can do harm, and it looks less often: a look at a thousand
 * connections took 1 to 8 ms.
 */
import type { Socket } from 'node:net'
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import type { TLSSocket } from 'node:tls'

/** Bytes of a TLS connection without content. Past it: the connection is closed, and its attempt has failed. */
const EMPTY_BYTES_MAX = 262_144
/** A record has about 22 bytes besides its content, and the content may be a single byte. */
const BYTES_PER_CONTENT = 32
const TLS_LOOK_MS = 100
/** Share of its time that the process works. Below it: only each twentieth look takes place. */
const BUSY_MIN = 0.5
/** Looks that are left out one after the other. Past it: a look takes place, however little the process works. */
const LOOKS_LEFT_OUT_MAX = 19
/** Connections that it looks at together. Past it: the others follow in the next looks. */
const TLS_LOOKED_AT_MAX = 500

class TlsLoadError extends Error {
  readonly code = 'ERR_TLS_LOAD'

  constructor() {
    super(`the endpoint sent more than ${EMPTY_BYTES_MAX} bytes of TLS without content`)
  }
}

interface Watched {
  socket: TLSSocket
  /** The socket that carries the connection. */
  carrier: Socket
  /** Bytes of the carrier that the content known so far allows. Up to it the content need not be read again. */
  allowed: number
}

export class TlsLoad {
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined
  #used: EventLoopUtilization = performance.eventLoopUtilization()
  #leftOut = 0
  /** The connections that follow in the present round. */
  #turn = this.#watched.values()

  watch(socket: TLSSocket, carrier: Socket): void {
    const watched = { socket, carrier, allowed: EMPTY_BYTES_MAX }
    this.#watched.add(watched)
    socket.once('close', () => this.#forget(watched))
    this.#timer ??= setInterval(() => this.#lookIfBusy(), TLS_LOOK_MS).unref()
  }

  #forget(watched: Watched): void {
    this.#watched.delete(watched)
    if (this.#watched.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #lookIfBusy(): void {
    const before = this.#used
    this.#used = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(this.#used, before)
    if (utilization < BUSY_MIN && this.#leftOut < LOOKS_LEFT_OUT_MAX) {
      this.#leftOut++
      return
    }
    this.#leftOut = 0
    this.#look()
  }

  #look(): void {
    for (let n = Math.min(TLS_LOOKED_AT_MAX, this.#watched.size); n > 0; n--) {
      const watched = this.#next()
      if (watched) lookAt(watched)
    }
  }

  #next(): Watched | undefined {
    const next = this.#turn.next()
    if (!next.done) return next.value
    this.#turn = this.#watched.values()
    return this.#turn.next().value
  }
}

function lookAt(watched: Watched): void {
  const { bytesRead } = watched.carrier
  if (bytesRead <= watched.allowed) return
  watched.allowed = EMPTY_BYTES_MAX + BYTES_PER_CONTENT * watched.socket.bytesRead
  if (bytesRead > watched.allowed) watched.socket.destroy(new TlsLoadError())
}
