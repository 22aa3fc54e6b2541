/** One connection: an undici Client that has at most one request, and dials when that is there. */
import { Client, type Dispatcher } from 'undici'
import type { Linked } from '../http/linked-list.ts'
import type { Origin } from './connection-origin.ts'
import type { Connector, Dial } from './connector.ts'
import { type InterimHeads, readWithoutContinue } from './interim-heads.ts'

/**
 * A server's hint can only shorten it.
 * @limit How long an idle connection is kept, whatever the server's hint says. After it: the connection is closed.
 */
const IDLE_MS_MAX = 60_000
/** Taken off a server's hint, for the time that bytes travel. */
const HINT_MARGIN_MS = 1_000

/** @limit A dial ahead of its request. Past it: the dial is called off, unless a request waits for it. */
const DIAL_AHEAD_MS_MAX = 3_000

/**
 * Thrown when undici begins to write a request that must not be sent. One shared error, because its stack is not read.
 */
export const UNSENT = new Error('not sent')

export interface NamedOrigin extends Origin {
  /** `https://host:port` */
  name: string
  /** Connections are shared by key: the origin's name, with the route if there is one. */
  key: string
}

export interface ConnectionOptions {
  connector: Connector
  /** How long an idle one is kept; a server's `Keep-Alive: timeout` may shorten or lengthen it. */
  idleMs: number
  headerBytesMax: number
}

export interface ConnectionEvents {
  /** It ended while it was idle, or could not be opened ahead in time. */
  ended(connection: Connection): void
  /** A dial has led to a connection. */
  dialled(connection: Connection): void
}

export class Connection implements Linked<Connection> {
  previous: Connection | undefined
  next: Connection | undefined
  readonly origin: NamedOrigin
  readonly client: Client
  idle = false
  /** By performance.now(). */
  idleSince = 0
  ended = false
  /** It is dialled ahead of its request. */
  opening = false
  /** The socket that is open now has been idle: the server may have closed it meanwhile. */
  hasWaited = false
  /** How long the last dial took. */
  dialMs = 0
  /** Whole responses. */
  served = 0
  readonly #events: ConnectionEvents
  #dial: Dial | undefined
  #heads: InterimHeads | undefined
  #dialledFor: NodeJS.Timeout | undefined

  constructor(origin: NamedOrigin, options: ConnectionOptions, events: ConnectionEvents) {
    this.origin = origin
    this.#events = events
    this.client = new Client(originUrl(origin), {
      connect: (_target, callback) => {
        const connected = callback as (error: Error | null, socket: unknown) => void
        const dialledAt = performance.now()
        this.#dial = options.connector(origin, (error, socket) => {
          if (socket) {
            this.#heads = readWithoutContinue(socket)
            this.dialMs = performance.now() - dialledAt
            events.dialled(this)
          }
          connected(error, socket)
        })
      },
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: options.headerBytesMax,
      // The caller's deadline covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.idleMs,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      keepAliveTimeoutThreshold: HINT_MARGIN_MS,
    })
    this.client.on('disconnect', () => {
      // undici opens another one under a request that it had not begun to write.
      this.hasWaited = false
      if (this.idle) events.ended(this)
    })
  }

  /** undici dials for a request alone: this one is dropped before it is written. */
  open(): void {
    this.opening = true
    this.#dialledFor = setTimeout(() => {
      if (this.idle) this.#events.ended(this)
    }, DIAL_AHEAD_MS_MAX).unref()
    this.client.dispatch({ path: '/', method: 'POST' }, new Opening((error) => this.#opened(error)))
  }

  #opened(error: Error): void {
    this.opening = false
    clearTimeout(this.#dialledFor)
    // A request that has waited for it has it fresh.
    if (!this.idle) this.hasWaited = false
    if (error !== UNSENT) this.#events.ended(this)
  }

  /** A whole response has come; the next request may follow. */
  answered(): void {
    this.served += 1
    this.#heads?.begin()
  }

  /** Calls off a dial, cuts an exchange short, closes the socket. */
  end(): void {
    this.ended = true
    clearTimeout(this.#dialledFor)
    this.#dial?.cancel()
    this.client.destroy(ENDED, ignore)
  }
}

/** The request that has a connection opened, and is never written. */
class Opening implements Dispatcher.DispatchHandler {
  readonly #ended: (error: Error) => void

  constructor(ended: (error: Error) => void) {
    this.#ended = ended
  }

  onRequestStart(): void {
    throw UNSENT
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#ended(error)
  }

  // undici requires these methods.
  onResponseStart(): void {}
  onResponseData(): void {}
  onResponseEnd(): void {}
}

/**
 * undici asks its URL for origin and protocol several times a request, and a URL works them out each time: here they
 * are constants of their own.
 */
function originUrl({ name, secure }: NamedOrigin): URL {
  const url = new URL(name)
  const protocol = secure ? 'https:' : 'http:'
  return Object.defineProperties(url, { origin: { value: name }, protocol: { value: protocol } })
}

/** One shared error: its stack is not read, and a new error each time would cost more than the rest. */
const ENDED = new Error('connection ended')

function ignore(): void {
  // undici calls back when the socket is gone; nothing waits for it.
}
