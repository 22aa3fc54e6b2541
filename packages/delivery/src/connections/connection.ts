/** One connection: an undici Client with at most one request. It dials when it is given a request. */
import { Client, type Dispatcher } from 'undici'
import { type AnswerBytes, watchAnswers } from './answer-bytes.ts'
import type { Connector, Dial } from './connector.ts'
import type { DialFacts, Origin } from './dial-facts.ts'
import type { Linked } from './linked-list.ts'
import type { AnswerSink } from './tolerant-answer.ts'

/**
 * How long an idle connection is kept, whatever the server's hint says. After it: the connection is closed. A server's
 * `Keep-Alive: timeout` can only shorten this time.
 */
const IDLE_MS_MAX = 60_000
/** Subtracted from the time of the server's hint, because the hint takes time to arrive. */
const HINT_MARGIN_MS = 1_000

/**
 * How long a connection may take to open before a request needs it. Past it: the dial is canceled, unless a request
 * waits for it.
 */
export const DIAL_AHEAD_MS_MAX = 3_000

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
  /** How long an idle connection is kept. A server's `Keep-Alive: timeout` may change this time. */
  idleMs: number
  headerBytesMax: number
}

export interface ConnectionEvents {
  /** The connection ended while idle, or could not be opened ahead in time. */
  ended(connection: Connection): void
  /** A dial has succeeded. */
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
  /** True while the connection is dialled before a request needs it. */
  opening = false
  /** The open socket has been idle, so the server may have closed it meanwhile. */
  hasWaited = false
  /**
   * When the origin's name was last known to lead to the open socket's address, by performance.now(). Without a socket:
   * now or later.
   */
  confirmedAt = Number.POSITIVE_INFINITY
  /** Its first dial is under way. */
  dialling = true
  /** How long the last dial took. */
  dialMs = 0
  /** When the present request got this connection, or the last one if it is idle. By performance.now(). */
  busySince = 0
  /** Number of complete responses that this connection has received. */
  served = 0
  readonly #events: ConnectionEvents
  #dial: Dial | undefined
  #isConfirming = false
  #answers: AnswerBytes | undefined
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
            this.confirmedAt = performance.now()
            this.#answers = watchAnswers(socket, options.headerBytesMax)
            this.dialMs = this.confirmedAt - dialledAt
            events.dialled(this)
          }
          connected(error, socket)
        })
      },
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: options.headerBytesMax,
      // The caller has one deadline for headers and body.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.idleMs,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      keepAliveTimeoutThreshold: HINT_MARGIN_MS,
    })
    this.client.on('disconnect', () => {
      // If undici had not begun to write the request, it opens another socket for the request. That socket has not been
      // idle.
      this.hasWaited = false
      this.confirmedAt = Number.POSITIVE_INFINITY
      if (this.idle) events.ended(this)
    })
  }

  /** The latest dial. undefined: nothing was dialled yet. */
  get dialled(): DialFacts | undefined {
    return this.#dial?.facts
  }

  /**
   * Dials without a request to send. undici dials only for a request, so it gets one that is dropped before it is
   * written.
   */
  open(): void {
    this.opening = true
    this.#dialledFor = setTimeout(() => {
      if (this.idle) this.#events.ended(this)
    }, DIAL_AHEAD_MS_MAX).unref()
    this.client.dispatch({ path: '/', method: 'POST' }, new Opening((error) => this.#opened(error)))
  }

  /** Resolves the origin's name again. If that fails, the connection becomes too old. */
  confirm(): void {
    const dial = this.#dial
    if (!dial?.isCurrent || this.#isConfirming) return
    this.#isConfirming = true
    dial.isCurrent().then(
      (isCurrent) => {
        this.#isConfirming = false
        if (dial === this.#dial) this.confirmedAt = isCurrent ? performance.now() : Number.NEGATIVE_INFINITY
      },
      () => {
        this.#isConfirming = false
      },
    )
  }

  #opened(error: Error): void {
    this.opening = false
    clearTimeout(this.#dialledFor)
    // A request waited for this dial, so the socket has not been idle.
    if (!this.idle) this.hasWaited = false
    if (error !== UNSENT) this.#events.ended(this)
  }

  /** Whether any byte of an answer to the present request has arrived. */
  get isAnswering(): boolean {
    return this.#answers?.hasBegun ?? false
  }

  /** Whether the connection may be used for another request. */
  get isReusable(): boolean {
    return this.#answers?.isReusable ?? false
  }

  /** Whether the whole request was written (answer-bytes.ts). */
  get isWritten(): boolean {
    return this.#answers?.isWritten ?? false
  }

  /** Whether the present answer is one of HTTP/1.0. */
  get isOldAnswer(): boolean {
    return this.#answers?.isOld ?? false
  }

  /** Called right before a request is written. */
  begin(sink: AnswerSink): void {
    this.#answers?.begin(sink)
  }

  /** Called when a whole response has arrived. The next request may follow. */
  answered(): void {
    this.served += 1
    this.#answers?.over()
  }

  /** Ends the connection in any state: it cancels a dial, cuts an exchange, and closes the socket. */
  end(): void {
    this.ended = true
    clearTimeout(this.#dialledFor)
    this.#dial?.cancel()
    this.client.destroy(ENDED, ignore)
  }
}

/** The handler of a request that only makes undici dial. It is never written. */
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
 * undici reads origin and protocol of its URL several times per request, and a URL computes them each time. Here they
 * are constants.
 */
function originUrl({ name, secure }: NamedOrigin): URL {
  const url = new URL(name)
  const protocol = secure ? 'https:' : 'http:'
  return Object.defineProperties(url, { origin: { value: name }, protocol: { value: protocol } })
}

/** One shared error. Its stack is not read, and creating an error each time would cost more than all the rest. */
const ENDED = new Error('connection ended')

function ignore(): void {
  // undici calls this when the socket is gone. No code waits for that.
}
