/**
 * Connections, one undici Client each, cached per origin. undici's own Pool scans its clients for every request, queues
 * when all are busy, and does not distinguish a fresh connection from a used one. Here the idle ones form a stack, a
 * request never waits, and a connection knows how many requests it has served.
 *
 * A connection is busy (with exactly one request) or idle. An idle one ends when its time is up, when the peer closes
 * it, when an origin or the process has more than its limit (the one idle for longest goes first), or with `close`.
 * Past `perOriginMax` a request still gets a connection, which is closed after it: subscriptions that share a host must
 * not wait for each other, and the caller bounds the number in flight.
 *
 * A connection that is opened ahead of its request is idle from the start, also while it is dialled. A request that
 * takes it waits for the rest of the dial.
 */
import { LRUCache } from 'lru-cache'
import { LinkedList } from '../http/linked-list.ts'
import { Connection, type ConnectionEvents, type ConnectionOptions, type NamedOrigin } from './connection.ts'

interface ConnectionsOptions extends ConnectionOptions {
  /** Kept per origin. */
  perOriginMax: number
  /** Idle ones kept in all. */
  idleMax: number
}

interface OriginPool {
  idle: Connection[]
  open: number
}

/** Facts about an origin whose last dial was slow. */
interface SlowOrigin {
  /** Its last connection served a single request, so each request needs a new connection. */
  closes: boolean
}

/** Dials that take longer begin ahead of the request: well within what a request may be late. */
const SLOW_DIAL_MS = 30
/**
 * @limit Wait of an unused connection that may repeat a request after a reset. Past it: another one is opened.
 * A throttled request that missed its send time comes back to its connection well before.
 */
const FRESH_MS_MAX = 2_000
/** @limit Origins that are remembered as slow to dial. Past it: the least recently used one is forgotten. */
const SLOW_ORIGINS_MAX = 10_000

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #pools = new Map<string, OriginPool>()
  /** Longest idle first. */
  readonly #idle = new LinkedList<Connection>()
  /** By the origin's key. */
  readonly #slow = new LRUCache<string, SlowOrigin>({ max: SLOW_ORIGINS_MAX })
  readonly #events: ConnectionEvents = {
    ended: (connection) => this.discard(connection),
    dialled: ({ origin, dialMs }) => {
      if (dialMs <= SLOW_DIAL_MS) this.#slow.delete(origin.key)
      else if (!this.#slow.has(origin.key)) this.#slow.set(origin.key, { closes: false })
    },
  }
  #open = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  stats(): { connections: number; idle: number; origins: number } {
    return { connections: this.#open, idle: this.#idle.size, origins: this.#pools.size }
  }

  /** The idle connection that was used last, or a new one. `fresh` asks for one that has not been used. */
  acquire(origin: NamedOrigin, fresh: boolean): Connection {
    const pool = this.#pools.get(origin.key)
    const known = pool && takeIdle(pool, fresh)
    if (!known) return this.#create(origin)
    if (known.served === 1) this.#noteKeeping(origin, true)
    this.#idle.remove(known)
    known.idle = false
    return known
  }

  /**
   * Dials for a request that follows in a moment, where that takes long. An origin that keeps its connections open is
   * dialled where it has none, one that closes them for each request.
   */
  openAhead(origin: NamedOrigin): void {
    const slow = this.#slow.get(origin.key)
    if (!slow) return
    const open = this.#pools.get(origin.key)?.open ?? 0
    if (open > 0 && (!slow.closes || open >= this.#options.perOriginMax)) return
    const connection = this.#create(origin)
    this.giveBack(connection)
    connection.open()
  }

  /** Takes it back after a whole response; `keeps`: the server lets it be used again. */
  release(connection: Connection, keeps: boolean): void {
    connection.answered()
    if (keeps) this.giveBack(connection)
    else this.discard(connection)
  }

  /** Takes it back from a request that was not sent. */
  giveBack(connection: Connection): void {
    const pool = this.#pools.get(connection.origin.key)
    if (!pool || pool.open > this.#options.perOriginMax) {
      this.discard(connection)
      return
    }
    connection.idle = true
    connection.idleSince = performance.now()
    connection.hasWaited = true
    pool.idle.push(connection)
    this.#idle.append(connection)
    if (this.#idle.size > this.#options.idleMax && this.#idle.first) this.discard(this.#idle.first)
  }

  /** Ends the connection in any state. */
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
    if (connection.served > 0) this.#noteKeeping(connection.origin, connection.served > 1)
    if (pool.open === 0) this.#pools.delete(connection.origin.key)
  }

  /** Ends all idle ones; busy ones end when they are released. */
  close(): void {
    while (this.#idle.first) this.discard(this.#idle.first)
  }

  #noteKeeping({ key }: NamedOrigin, keeps: boolean): void {
    const slow = this.#slow.peek(key)
    if (slow) slow.closes = !keeps
  }

  #create(origin: NamedOrigin): Connection {
    const pool = this.#pools.get(origin.key) ?? { idle: [], open: 0 }
    this.#pools.set(origin.key, pool)
    pool.open += 1
    this.#open += 1
    return new Connection(origin, this.#options, this.#events)
  }
}

/**
 * The one used last. Those that have served nothing yet are taken in the order in which they were opened: each is used
 * before its server gives it up, and a server that takes them one by one waits for none.
 */
function takeIdle({ idle }: OriginPool, fresh: boolean): Connection | undefined {
  const last = idle.at(-1)
  if (!last) return undefined
  if (!fresh && last.served > 0) return idle.pop()
  const since = fresh ? performance.now() - FRESH_MS_MAX : Number.NEGATIVE_INFINITY
  const isFit = ({ served, idleSince }: Connection) => idleSince > since && !(fresh && served > 0)
  const open = idle.findIndex((connection) => !connection.opening && isFit(connection))
  const at = open >= 0 ? open : idle.findIndex((connection) => connection.opening && isFit(connection))
  return at >= 0 ? idle.splice(at, 1)[0] : undefined
}
