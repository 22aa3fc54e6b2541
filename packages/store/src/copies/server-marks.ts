/**
 * Whether a copy still stands when its source is deleted.
 *
 * A delivery moves in two writes: the copy, then the deletion of its source. After a power loss with `appendfsync
 * everysec`, or a failover to a late replica, Redis has an older state. The source may be back and the copy gone. A
 * worker that saw the copy acknowledged would delete the source all the same, and the delivery would be lost.
 *
 * Two facts rule that out, without a command to Redis. A server process keeps what it has acknowledged for as long as
 * it lives. A connection that was never closed leads to the process that it led to before. So a mark is taken before
 * the copy is written, and holds until one of the connections closes. The source is deleted in the turn of the event
 * loop in which `holds` is true. Once the mark is over, the copy is looked up, or the whole move is repeated.
 *
 * Redis restores a beginning of what it wrote, never a selection. So a copy that is found proves all that this server
 * wrote before it. On a cluster that holds for each master alone (docs/reliability.md).
 */
import type { Cluster, Redis } from 'ioredis'
import { isCluster, nodeOf } from '../redis/cluster.ts'

const CLOSED = Number.POSITIVE_INFINITY

/** Stored on the connection itself, so that it is followed once, whatever wraps it. */
const OPENED_AT = Symbol('opened at')

type Followed = Redis & { [OPENED_AT]?: number }

/** When the connection was last opened (performance.now()); infinite while it is closed. */
export function openSince(redis: Redis): number {
  return (redis as Followed)[OPENED_AT] ?? followConnection(redis)
}

/** To be called when the connection is made, so that its times are known from the first on. */
export function followConnection(redis: Redis): number {
  const followed = redis as Followed
  const now = redis.status === 'ready' ? performance.now() : CLOSED
  followed[OPENED_AT] = now
  redis.on('ready', () => {
    followed[OPENED_AT] = performance.now()
  })
  redis.on('close', () => {
    followed[OPENED_AT] = CLOSED
  })
  return now
}

export interface ServerMark {
  /** Where the copy is written. */
  readonly key: string
  /** When it was taken (performance.now()). */
  readonly at: number
  /** Every connection has led to the same server process since then. */
  holds(): boolean
}

export class ServerMarks {
  readonly #connections: Redis[]

  /** All connections that write copies or delete sources. */
  constructor(connections: Redis[]) {
    this.#connections = [...new Set(connections)]
    for (const redis of this.#connections) follow(redis)
  }

  /** To be taken before the copy is written; `key`: where it is written. */
  mark(key: string): ServerMark {
    const at = performance.now()
    const nodes = this.#nodes(key)
    const holds = () => {
      const now = this.#nodes(key)
      return nodes.every((node, i) => node !== undefined && node === now[i] && openSince(node) <= at)
    }
    return { key, at, holds }
  }

  #nodes(key: string): (Redis | undefined)[] {
    return this.#connections.map((redis) => nodeIfKnown(redis, key))
  }
}

/** Marks are also made for a single move, so a cluster is followed once, like a connection. */
const FOLLOWED = new WeakSet<Redis>()

function follow(redis: Redis): void {
  if (!isCluster(redis)) return void openSince(redis)
  if (FOLLOWED.has(redis)) return
  FOLLOWED.add(redis)
  const cluster = redis as unknown as Cluster
  for (const node of cluster.nodes('all')) openSince(node)
  cluster.on('+node', (node: Redis) => openSince(node))
}

/** undefined where a cluster does not know which master has the key. */
function nodeIfKnown(redis: Redis, key: string): Redis | undefined {
  try {
    return nodeOf(redis, key)
  } catch {
    return undefined
  }
}
