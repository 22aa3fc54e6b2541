/**
 * A mark shows whether a copy still exists when its source is about to be deleted.
 *
 * A delivery moves in two writes: the copy, then the deletion of its source. After a power loss with `appendfsync
 * everysec`, or a failover to a late replica, Redis has an older state. That state may have the source and not the
 * copy. A worker that saw the copy acknowledged would still delete the source, and the delivery would be lost.
 *
 * Two facts prevent that without a command to Redis. A server process keeps every acknowledged write while it lives. A
 * connection that was never closed leads to the same process as before. A mark is therefore taken before the copy is
 * written, and holds until one of the connections closes. The source is deleted in the turn of the event loop in which
 * `holds` is true. If the mark no longer holds, the copy is looked up, or the whole move is repeated.
 *
 * Redis restores its writes up to some moment, never a selection of them. A copy that exists therefore proves
 * everything that this server wrote before it. On a cluster this holds for each master separately
 * (docs/reliability.md).
 */
import type { Cluster, Redis } from 'ioredis'
import { isCluster, nodeOf } from '../redis/cluster.ts'

const CLOSED = Number.POSITIVE_INFINITY

/** Stored on the connection itself, so that each connection is followed only once. */
const OPENED_AT = Symbol('opened at')

type Followed = Redis & { [OPENED_AT]?: number }

/** When the connection was last opened, by performance.now(). Infinity while it is closed. */
export function openSince(redis: Redis): number {
  return (redis as Followed)[OPENED_AT] ?? followConnection(redis)
}

/** Must be called when the connection is made, so that every opening is recorded. */
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
  /** When the mark was taken, by performance.now(). */
  readonly at: number
  /** Whether every connection still leads to the server process of that time. */
  holds(): boolean
}

export class ServerMarks {
  readonly #connections: Redis[]

  /** `connections`: all connections that write copies or delete sources. */
  constructor(connections: Redis[]) {
    this.#connections = [...new Set(connections)]
    for (const redis of this.#connections) follow(redis)
  }

  /** Must be called before the copy is written. `key`: the key of the copy. */
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

/** Marks are also made for a single move, so each cluster is followed only once. */
const FOLLOWED = new WeakSet<Redis>()

function follow(redis: Redis): void {
  if (!isCluster(redis)) return void openSince(redis)
  if (FOLLOWED.has(redis)) return
  FOLLOWED.add(redis)
  const cluster = redis as unknown as Cluster
  for (const node of cluster.nodes('all')) openSince(node)
  cluster.on('+node', (node: Redis) => openSince(node))
}

/** undefined: the cluster does not know which master has the key. */
function nodeIfKnown(redis: Redis, key: string): Redis | undefined {
  try {
    return nodeOf(redis, key)
  } catch {
    return undefined
  }
}
