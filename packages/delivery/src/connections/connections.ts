/**
 * Connections, one undici Client each, cached per origin. Three things differ from undici's own Pool. The Pool scans
 * its clients for every request; here idle connections form a stack. The Pool lets requests wait for as long as all
 * clients are busy; here a request waits no longer than a dial would take. The Pool does not know which connections
 * have been used; here each connection counts its requests.
 *
 * A connection is busy (with exactly one request) or idle. An idle connection ends when its time is over, when the peer
 * closes it, or with `close`. If an origin or the process has more than its limit, the connection that was idle for
 * longest ends first; past the limit of the process, one of an origin with several.
 *
 * If all connections to an origin are busy, a request waits for the first that becomes free, because a dial takes time
 * too, and most of all CPU: a TLS handshake costs as much as twenty requests. It waits about as long as the last dial
 * took, or as the host's answers let it expect a free connection, and is then given a new one. A busy process dials
 * slowly, so it dials less. An endpoint that does not answer delays others of its host by no more than this time.
 *
 * Past `perOriginMax` a request still gets a connection, which is closed after it. Subscriptions that share a host must
 * not wait for each other, and the caller bounds the number of requests in flight.
 *
 * A connection that is opened ahead of its request is idle from the start, also while it is dialled. A request that
 * takes it waits for the rest of the dial.
 */
import { LRUCache } from 'lru-cache'
import {
  Connection,
  type ConnectionEvents,
  type ConnectionOptions,
  DIAL_AHEAD_MS_MAX,
  type NamedOrigin,
} from './connection.ts'
import { LinkedList } from './linked-list.ts'

interface ConnectionsOptions extends ConnectionOptions {
  /** Connections kept per origin. */
  perOriginMax: number
  /** Idle connections kept to all origins together. */
  idleMax: number
  /**
   * A connection takes requests for this time after its name was known to lead to its address. In the second half of
   * this time the name is resolved again, so that only a connection whose name leads elsewhere needs a successor.
   */
  ageMsMax: number
}

interface OriginPool {
  idle: Connection[]
  open: number
  /** How many of the open ones are still dialled. */
  dialling: number
  /** Whether the last connection that had answered could be used again. */
  keeps: boolean
  /** Requests that wait for a connection, in their order. */
  waiting: Waiting[]
  /** Dials for requests that wait. While any wait, it is called no later than the first of them needs it. */
  timer: NodeJS.Timeout | undefined
  /** When the timer is called, by performance.now(). */
  timerAt: number
  /** How long the last dial took. */
  dialMs: number
  /** How long a request used its connection, a moving average of those that were answered. */
  answerMs: number | undefined
}

interface Waiting {
  /** Called once, with a connection that is busy with this request. False: the request needs it no more. */
  take: (connection: Connection) => boolean
  /** By performance.now(). */
  since: number
  /** When its turn for a connection that becomes free was expected, in ms after `since`. */
  freeMs: number
  /** Stalls of this process that do not count, and the end of the latest in ms after `since`. */
  stalls: number
  stallEndMs: number
}

/** An origin whose last dial was slow. */
interface SlowOrigin {
  /**
   * True if the last connection served only one request. The origin then probably closes its connections, so each
   * request needs a new one.
   */
  closes: boolean
}

/**
 * If an origin's dials take longer than this, they begin before the request. It is well below the time that a request
 * may be late.
 */
const SLOW_DIAL_MS = 30
/**
 * Age of an unused connection over which a request is sent again after a reset. Past it: another one is opened. After a
 * reset, the request is sent again over a connection that has not been used. If that connection is old, its server may
 * close it too, so its age is limited. A throttled request that missed its send time uses its connection again well
 * before this age.
 */
const FRESH_MS_MAX = 2_000
/**
 * A request waits at least and at most this long for a connection that becomes free. Dials of a busy process take
 * seconds. With a shorter bound, each request would then dial, and keep the process busy.
 */
const WAIT_MS = { min: 5, max: 2_000 }
/**
 * A request waits at most this long because answers of its host take long. With answers after 300 ms and six
 * connections, one becomes free each 50 ms. Requests that dialled after 5 ms opened 15 connections per 1,000.
 */
const ANSWER_WAIT_MS_MAX = 50
/** A timer that is called later than this shows a stall of the process. */
const STALL_MS = 20
/**
 * Stalls that do not count toward the wait of a request. Past it: they count. Otherwise a process that is always late
 * would never dial beside an endpoint that hangs.
 */
const STALLS_MAX = 2
/** The share of the latest answer in the average. */
const ANSWER_SHARE = 1 / 8
/** Origins that are remembered as slow to dial. Past it: the least recently used one is forgotten. */
const SLOW_ORIGINS_MAX = 10_000

export class Connections {
  readonly #options: ConnectionsOptions
  readonly #pools = new Map<string, OriginPool>()
  /** Longest idle first. */
  readonly #idle = new LinkedList<Connection>()
  /** By the origin's key. */
  readonly #slow = new LRUCache<string, SlowOrigin>({ maxSize: SLOW_ORIGINS_MAX, sizeCalculation: () => 1 })
  readonly #events: ConnectionEvents = {
    ended: (connection) => this.discard(connection),
    dialled: (connection) => {
      const { origin, dialMs } = connection
      const pool = this.#pools.get(origin.key)
      if (pool) pool.dialMs = dialMs
      this.#dialEnded(connection, pool)
      if (dialMs <= SLOW_DIAL_MS) this.#slow.delete(origin.key)
      else if (!this.#slow.has(origin.key)) this.#slow.set(origin.key, { closes: false })
    },
  }
  #open = 0
  #isClosed = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  stats(): { connections: number; idle: number; origins: number } {
    return { connections: this.#open, idle: this.#idle.size, origins: this.#pools.size }
  }

  /**
   * Returns the idle connection that was used last, or a new one. If there are connections and all are busy, it returns
   * undefined, and `take` gets one later.
   */
  request(origin: NamedOrigin, now: number, take: Waiting['take']): Connection | undefined {
    const pool = this.#pools.get(origin.key)
    if (pool && pool.idle.length === 0 && pool.open > 0) {
      pool.waiting.push({ take, since: now, freeMs: freeMsOf(pool), stalls: 0, stallEndMs: 0 })
      this.#setTimer(origin, pool)
      return undefined
    }
    return this.acquire(origin, false, now)
  }

  /**
   * Called when the time at which the first request dials may have become earlier: another request is the first, or
   * another dial may begin. A timer that is too early stays. It is set again when it is called.
   *
   * After a stall of the process, its timers are called before its sockets are read. The answers that came meanwhile
   * are read first, because they free connections. Requests that the stall has kept back are answered even later, so
   * the stall does not count. If it counted, each stall of a busy process would open connections to hundreds of hosts.
   * STALLS_MAX bounds this.
   */
  #setTimer(origin: NamedOrigin, pool: OriginPool): void {
    const [next] = pool.waiting
    if (!next) return
    const dialsAt = dialsAtOf(pool, next)
    if (pool.timer && pool.timerAt <= dialsAt) return
    clearTimeout(pool.timer)
    const now = performance.now()
    const dial = () => setImmediate(() => this.#dialForOverdue(origin, pool))
    // A request may be overdue already, such as when a dial has ended that it had to wait for.
    pool.timerAt = Math.max(dialsAt, now)
    pool.timer = setTimeout(dial, pool.timerAt - now)
  }

  #dialForOverdue(origin: NamedOrigin, pool: OriginPool): void {
    clearTimeout(pool.timer)
    pool.timer = undefined
    const now = performance.now()
    if (now - pool.timerAt > STALL_MS) leaveOutStall(pool, now)
    for (let [next] = pool.waiting; next && dialsAtOf(pool, next) <= now; [next] = pool.waiting)
      this.#dialForNext(origin, pool)
    this.#setTimer(origin, pool)
  }

  #dialEnded(connection: Connection, pool: OriginPool | undefined): void {
    if (!connection.dialling) return
    connection.dialling = false
    if (!pool) return
    pool.dialling -= 1
    this.#setTimer(connection.origin, pool)
  }

  #dialForNext(origin: NamedOrigin, pool: OriginPool): void {
    const next = pool.waiting.shift()
    if (!next) return
    const connection = this.#create(origin)
    if (!next.take(connection)) this.discard(connection)
  }

  /** Gives the connection to the next request that waits. False: none waits. */
  #passOn(connection: Connection, now: number): boolean {
    const pool = this.#pools.get(connection.origin.key)
    const next = pool?.waiting.shift()
    if (!pool || !next) return false
    connection.busySince = now
    this.#setTimer(connection.origin, pool)
    // undici is still in the exchange that has ended. Let it finish before its client gets the next request.
    queueMicrotask(() => {
      if (!next.take(connection)) this.giveBack(connection)
    })
    return true
  }

  /**
   * Returns the idle connection that was used last, or a new one. With `fresh` it returns one that has not been used.
   * `now`: by performance.now().
   */
  acquire(origin: NamedOrigin, fresh: boolean, now: number): Connection {
    const pool = this.#pools.get(origin.key)
    const known = pool && takeIdle(pool, fresh)
    if (!known) return this.#create(origin, now)
    if (this.#isOld(known, now)) {
      pool.idle.push(known)
      this.#discardOld(pool, now)
      return this.acquire(origin, fresh, now)
    }
    if (known.served === 1) this.#noteKeeping(origin, true)
    this.#idle.remove(known)
    known.idle = false
    known.busySince = now
    return known
  }

  /**
   * Dials for a request that follows soon, but only if the origin's dials are slow. An origin that keeps connections
   * open is dialled if it has none. An origin that closes them after each request is always dialled.
   */
  openAhead(origin: NamedOrigin): void {
    const slow = this.#slow.get(origin.key)
    if (!slow) return
    const pool = this.#pools.get(origin.key)
    // A connection that will be too old when the request comes is not worth waiting for.
    if (pool) this.#discardOld(pool, performance.now() + DIAL_AHEAD_MS_MAX)
    const open = pool?.open ?? 0
    if (open > 0 && (!slow.closes || open >= this.#options.perOriginMax)) return
    const connection = this.#create(origin)
    this.giveBack(connection)
    connection.open()
  }

  /**
   * Takes back a connection after a whole response. `keeps`: the server allows another request on it. `now`: by
   * performance.now().
   */
  release(connection: Connection, keeps: boolean, now: number): void {
    connection.answered()
    const pool = this.#pools.get(connection.origin.key)
    if (pool) pool.answerMs = averageOf(pool.answerMs, now - connection.busySince)
    if (now - connection.confirmedAt > this.#options.ageMsMax / 2) connection.confirm()
    if (!keeps || !connection.isReusable || this.#isOld(connection, now)) this.discard(connection)
    else if (connection.isWritten) this.giveBack(connection, now)
    // A busy process reads the answer before it hears that the last bytes of the request have been written. If it does
    // not hear so right after, the answer has come before the whole request was sent, and nothing may follow.
    else
      setImmediate(() => {
        if (connection.isWritten && connection.isReusable) this.giveBack(connection)
        else this.discard(connection)
      })
  }

  /** Takes back a connection for the next request: one that waits, or a later one. */
  giveBack(connection: Connection, now = performance.now()): void {
    connection.hasWaited = true
    const pool = this.#pools.get(connection.origin.key)
    if (pool && connection.served > 0) pool.keeps = true
    if (this.#passOn(connection, now)) return
    if (this.#isClosed || !pool || pool.open > this.#options.perOriginMax) {
      this.discard(connection)
      return
    }
    connection.idle = true
    connection.idleSince = now
    pool.idle.push(connection)
    this.#idle.append(connection)
    if (this.#idle.size <= this.#options.idleMax) return
    // A host with several gives one up first. Otherwise hosts that get their requests in turn would all lose theirs.
    const surplus = pool.idle.length > 1 ? pool.idle[0] : this.#idle.first
    if (surplus) this.discard(surplus)
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
    this.#dialEnded(connection, pool)
    if (connection.served > 0) pool.keeps = connection.served > 1
    if (connection.served > 0) this.#noteKeeping(connection.origin, connection.served > 1)
    if (pool.open > 0) {
      this.#setTimer(connection.origin, pool)
      return
    }
    // No connection will become free for those that wait.
    while (pool.open === 0 && pool.waiting.length > 0) this.#dialForNext(connection.origin, pool)
    this.#setTimer(connection.origin, pool)
    if (pool.open > 0) return
    clearTimeout(pool.timer)
    this.#pools.delete(connection.origin.key)
  }

  /** Ends all idle connections. Busy ones end when they are released. */
  close(): void {
    this.#isClosed = true
    while (this.#idle.first) this.discard(this.#idle.first)
  }

  #isOld({ confirmedAt }: Connection, now: number): boolean {
    return now - confirmedAt > this.#options.ageMsMax
  }

  #discardOld(pool: OriginPool, now: number): void {
    for (const connection of pool.idle.filter((idle) => this.#isOld(idle, now))) this.discard(connection)
  }

  #noteKeeping({ key }: NamedOrigin, keeps: boolean): void {
    const slow = this.#slow.peek(key)
    if (slow) slow.closes = !keeps
  }

  #create(origin: NamedOrigin, now = performance.now()): Connection {
    const pool = this.#pools.get(origin.key) ?? emptyPool()
    this.#pools.set(origin.key, pool)
    pool.open += 1
    pool.dialling += 1
    this.#open += 1
    const connection = new Connection(origin, this.#options, this.#events)
    connection.busySince = now
    return connection
  }
}

function averageOf(average: number | undefined, latest: number): number {
  return average === undefined ? latest : average + (latest - average) * ANSWER_SHARE
}

function emptyPool(): OriginPool {
  return {
    idle: [],
    open: 0,
    dialling: 0,
    keeps: false,
    waiting: [],
    timer: undefined,
    timerAt: 0,
    dialMs: 0,
    answerMs: undefined,
  }
}

/**
 * Connections of a host grow by at most a quarter in the time of a dial. After a stall, all its requests are overdue at
 * once. Without this bound they would all dial, and each connection takes 100 KB for as long as it is kept. A host that
 * closes its connections needs a dial for each request.
 */
function mayDial({ keeps, dialling, open }: OriginPool): boolean {
  return !keeps || dialling < Math.max(1, (open - dialling) / 4)
}

/** When another request would get the next connection that becomes free. */
function freeMsOf({ answerMs = 0, open, waiting }: OriginPool): number {
  return Math.min(ANSWER_WAIT_MS_MAX, (answerMs * (waiting.length + 1)) / open)
}

function leaveOutStall({ waiting }: OriginPool, now: number): void {
  for (const one of waiting) {
    if (one.stalls === STALLS_MAX) continue
    one.stalls++
    one.stallEndMs = now - one.since
  }
}

/** When the request dials if no connection becomes free, by performance.now(). */
function dialsAtOf(pool: OriginPool, { since, freeMs, stallEndMs }: Waiting): number {
  if (!mayDial(pool)) return since + WAIT_MS.max
  return since + Math.min(WAIT_MS.max, Math.max(WAIT_MS.min, pool.dialMs, freeMs) + stallEndMs)
}

/**
 * Takes the idle connection that was used last. Connections that have served nothing are taken in the order of their
 * opening. Each is then used before its server closes it. A server that accepts connections one by one then never waits
 * for a later one.
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
