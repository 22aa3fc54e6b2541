/**
 * A mark proves that a copy still exists. It is checked right before the source of the copy is deleted.
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
 * Sentinels may replace a master that still runs. It may take writes for ten more seconds. Connections that open
 * meanwhile may lead to either master. A copy at one and a deletion at the other would lose the delivery. A mark
 * therefore holds only while all connections lead to the same process.
 *
 * Redis restores its writes up to some moment, never a selection of them. A copy that exists therefore proves
 * everything that this server wrote before it. On a cluster this holds for each master separately
 * (docs/reliability.md).
 */
import type { Cluster, Redis } from 'ioredis'
import { checkpointKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { isCluster, nodeOf } from '../redis/connections/cluster.ts'
import { followConnection, leadToOneServer, openSince } from './open-connections.ts'

export interface ServerMark {
  /** The key of the copy. */
  readonly key: string
  /** When the mark was taken, by performance.now(). */
  readonly at: number
  /**
   * Whether every connection still leads to the server process of that time, and all lead to the same one. `sentOn`: a
   * further connection, on which the source is deleted. On a cluster it may lead to another master.
   */
  holds(sentOn?: Redis): boolean
}

export class ServerMarks {
  readonly #connections: Redis[]

  /**
   * `connections`: all connections that write copies or delete sources. If clusters are among them, plain connections
   * may lead to other masters.
   */
  constructor(connections: Redis[]) {
    this.#connections = [...new Set(connections)]
    for (const redis of this.#connections) follow(redis)
  }

  /** Must be called before the copy is written. `key`: the key of the copy. */
  mark(key: string): ServerMark {
    const at = performance.now()
    const nodes = this.#nodes(key)
    const holds = (sentOn?: Redis) => {
      const now = this.#nodes(key)
      const used = nodes.filter((node, i): node is Redis => node !== undefined && node === now[i])
      const all = sentOn === undefined ? used : [...used, sentOn]
      const stayed = used.length === nodes.length && all.every((node) => openSince(node) <= at)
      return stayed && leadToOneServer(this.#mastersOfKey(used) ?? all)
    }
    return { key, at, holds }
  }

  /** The masters that the clusters among the connections lead to. undefined if there are no clusters. */
  #mastersOfKey(nodes: Redis[]): Redis[] | undefined {
    if (!this.#connections.some(isCluster)) return undefined
    return nodes.filter((_, i) => isCluster(this.#connections[i] as Redis))
  }

  #nodes(key: string): (Redis | undefined)[] {
    return this.#connections.map((redis) => nodeIfKnown(redis, key))
  }
}

/** Marks are also made for a single move, so each cluster is followed only once. */
const FOLLOWED = new WeakSet<Redis>()

function follow(redis: Redis): void {
  if (!isCluster(redis)) followConnection(redis)
  else followCluster(redis)
}

function followCluster(redis: Redis): void {
  if (FOLLOWED.has(redis)) return
  FOLLOWED.add(redis)
  const cluster = redis as unknown as Cluster
  for (const node of cluster.nodes('all')) followConnection(node)
  cluster.on('+node', (node: Redis) => followConnection(node))
}

/** The master that has the key. Undefined: the cluster client does not know it. */
function nodeIfKnown(redis: Redis, key: string): Redis | undefined {
  try {
    return nodeOf(redis, key)
  } catch {
    return undefined
  }
}

/**
 * Reads who wrote a job's checkpoint in a shard last: which run, and which batch. Redis keeps the order of writes. So
 * if a batch is named there, all earlier writes exist too.
 */
export interface CheckpointNames {
  /** Fence of the run that opened the checkpoint last. */
  fence: string | null
  /** The batch that was parked last. */
  batch: string | null
}

export async function readCheckpointNames(
  redis: Redis,
  shard: number,
  job: string,
): Promise<CheckpointNames> {
  const [fence = null, batch = null] = await redis.hmget(checkpointKey(shardBase(shard), job), 'f', 'p')
  return { fence, batch }
}
