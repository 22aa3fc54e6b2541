/**
 * Connections, one undici Client each, kept per origin for reuse. undici's own Pool looks at its clients one by one for
 * every request, queues when all are busy, and does not tell a fresh connection from a used one; here the idle ones are a
 * stack, a request never waits, and a connection knows what it has served.
 *
 * A connection is busy (with exactly one request) or idle. Idle ones end when their time is up, when the peer closes them,
 * when an origin or the process has more than it may keep (the one idle for longest goes first), or with `close`. Past
 * `perOriginMax` a request still gets a connection, which is closed after it: subscriptions that share a host must not
 * wait for each other, and the caller bounds what is in flight.
 */
import { Client } from 'undici'
import type { Connector, Dial, Origin } from './connector.ts'
import { type InterimHeads, readWithoutContinue } from './interim-heads.ts'
import { type Linked, LinkedList } from './linked-list.ts'

export interface ConnectionsOptions {
  connector: Connector
  /** Kept per origin. */
  perOriginMax: number
  /** Idle ones kept in all. */
  idleMax: number
  /** How long an idle one is kept; a server's `Keep-Alive: timeout` may shorten or lengthen it. */
  idleMs: number
  headerBytesMax: number
}

export interface NamedOrigin extends Origin {
  /** `https://host:port` */
  name: string
  /** What may share connections: the name, and the route where there is one. */
  key: string
}

interface OriginPool {
  idle: Connection[]
  open: number
}

/** At most this, whatever a server's hint says. */
const IDLE_MS_MAX = 60_000
/** Taken off a server's hint, for the time that bytes travel. */
const HINT_MARGIN_MS = 1_000

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #pools = new Map<string, OriginPool>()
  /** Longest idle first. */
  readonly #idle = new LinkedList<Connection>()
  #open = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  stats(): { connections: number; idle: number; origins: number } {
    return { connections: this.#open, idle: this.#idle.size, origins: this.#pools.size }
  }

  /** An idle connection, the one used last, or a new one; `fresh` asks for a new one. */
  acquire(origin: NamedOrigin, fresh: boolean): Connection {
    let pool = this.#pools.get(origin.key)
    if (!pool) {
      pool = { idle: [], open: 0 }
      this.#pools.set(origin.key, pool)
    }
    const known = fresh ? undefined : pool.idle.pop()
    if (known) {
      this.#idle.remove(known)
      known.idle = false
      return known
    }
    pool.open += 1
    this.#open += 1
    return new Connection(origin, this.#options, (connection) => this.discard(connection))
  }

  /** Takes it back after a whole response. */
  release(connection: Connection): void {
    const pool = this.#pools.get(connection.origin.key)
    if (!pool || pool.open > this.#options.perOriginMax) {
      this.discard(connection)
      return
    }
    connection.answered()
    connection.idle = true
    pool.idle.push(connection)
    this.#idle.append(connection)
    if (this.#idle.size > this.#options.idleMax && this.#idle.first) this.discard(this.#idle.first)
  }

  /** Ends it, whatever it does. */
  discard(connection: Connection): void {
    if (connection.ended) return
    connection.end()
    this.#open -= 1
    const pool = this.#pools.get(connection.origin.key)
    if (!pool) return
    if (connection.idle) {
      this.#idle.remove(connection)
      pool.idle.splice(pool.idle.indexOf(connection), 1)
    }
    pool.open -= 1
    if (pool.open === 0) this.#pools.delete(connection.origin.key)
  }

  /** Ends all idle ones; busy ones end when they are released. */
  close(): void {
    while (this.#idle.first) this.discard(this.#idle.first)
  }
}

export class Connection implements Linked<Connection> {
  previous: Connection | undefined
  next: Connection | undefined
  readonly origin: NamedOrigin
  readonly client: Client
  idle = false
  ended = false
  /** Whole responses on the socket that is open now. */
  exchanges = 0
  #dial: Dial | undefined
  #heads: InterimHeads | undefined

  constructor(origin: NamedOrigin, options: ConnectionsOptions, onIdleEnd: (connection: Connection) => void) {
    this.origin = origin
    this.client = new Client(originUrl(origin), {
      connect: (_target, callback) => {
        const connected = callback as (error: Error | null, socket: unknown) => void
        this.#dial = options.connector(origin, (error, socket) => {
          if (socket) this.#heads = readWithoutContinue(socket)
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
      this.exchanges = 0
      if (this.idle) onIdleEnd(this)
    })
  }

  /** A whole response has come; the next request may follow. */
  answered(): void {
    this.exchanges += 1
    this.#heads?.begin()
  }

  /** Calls off a dial, cuts an exchange short, closes the socket. */
  end(): void {
    this.ended = true
    this.#dial?.cancel()
    this.client.destroy(ENDED, ignore)
  }
}

/**
 * undici asks its URL for origin and protocol several times a request, and a URL works them out each time: here they are
 * constants of their own.
 */
function originUrl({ name, secure }: NamedOrigin): URL {
  const url = new URL(name)
  const protocol = secure ? 'https:' : 'http:'
  return Object.defineProperties(url, { origin: { value: name }, protocol: { value: protocol } })
}

/** Shared: nobody reads its stack, and making one for each would cost more than the rest. */
const ENDED = new Error('connection ended')

function ignore(): void {
  // undici calls back when the socket is gone; nothing waits for it.
}
