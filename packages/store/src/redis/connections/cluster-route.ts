/**
 * One plain connection into a cluster: to the master of a key, or to any node (pub/sub reaches all of them).
 *
 * All keys of a BullMQ queue are in one slot, so each of its connections needs one node at a time. A plain connection
 * keeps its usual properties. It has one state, `WAIT` follows the write that it is for, and a blocking command ends
 * with its master. The node is looked up at every connect. A server that no longer has the slot answers MOVED, and the
 * connection then goes to the right one.
 */
import { createConnection, isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { HostPort, RedisAccess, RedisCluster, RedisTls } from '@fantail/contracts'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'
import { keySlot } from '../../keys/slots.ts'
import { askOnce, askOptions } from './ask-once.ts'

const ASKING = askOptions('fantail-route')
const ASK_AGAIN_MS = 200
/** Pause before the connection is closed. Answers that are under way, also refusals, arrive before. */
const MOVE_AFTER_MS = 20
/** Wait for a plain connection into a cluster to end. Past it: it is cut. */
const DISCONNECT_TIMEOUT_MS = 2_000
/** Nodes of a cluster that a process remembers. Past it: further ones are left out. */
const NODES_MAX = 100
/** Errors of a server that does not have the slot, or whose cluster has lost a part. */
const ELSEWHERE = /^(MOVED|CLUSTERDOWN|UNBLOCKED|READONLY)\b/

type Stream = ReturnType<typeof createConnection>

/** Options that lead a plain connection to the key's master. Without a key they lead to any node. */
export function routeOptions(target: RedisCluster, key: string | undefined): RedisOptions {
  const slot = key === undefined ? undefined : keySlot(key)
  const streams = new Set<Stream>()
  class RoutedConnector extends AbstractConnector {
    constructor() {
      super(DISCONNECT_TIMEOUT_MS)
    }

    async connect(emit: (type: string, error: Error) => void): Promise<Stream> {
      this.connecting = true
      const place = await findNode(target, slot, () => this.connecting, emit)
      const stream = target.tls ? connectTls(tlsOptions(place, target.tls)) : createConnection(place)
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
      stream.once('error', (error: Error) => {
        this.firstError = error
      })
      this.stream = stream
      return stream
    }
  }
  const reconnectOnError = (error: Error) => {
    if (ELSEWHERE.test(error.message)) setTimeout(leave, MOVE_AFTER_MS)
    return false
  }
  const leave = () => {
    for (const stream of streams) stream.destroy()
  }
  return {
    Connector: RoutedConnector as NonNullable<RedisOptions['Connector']>,
    reconnectOnError,
    ...accessOptions(target),
  }
}

/** By cluster, every node that was ever seen. The nodes in the settings may not exist for ever. */
const known = new WeakMap<RedisCluster, Map<string, HostPort>>()

/** Asks nodes until one answers. Each round without an answer is reported as an error. */
async function findNode(
  target: RedisCluster,
  slot: number | undefined,
  wanted: () => boolean,
  emit: (type: string, error: Error) => void,
): Promise<HostPort> {
  for (;;) {
    let last: unknown
    for (const node of shuffled(nodesOf(target).values())) {
      if (!wanted()) throw new Error('Connection is closed.')
      try {
        const found = await askNode(target, node, slot)
        if (found && wanted()) return found
      } catch (error) {
        last = error
      }
    }
    if (!wanted()) throw new Error('Connection is closed.')
    emit('error', new Error('no node of the cluster says where to connect', { cause: last }))
    await delay(ASK_AGAIN_MS)
  }
}

function nodesOf(target: RedisCluster): Map<string, HostPort> {
  let nodes = known.get(target)
  if (!nodes) {
    nodes = new Map(target.nodes.map((node) => [nameOf(node), node]))
    known.set(target, nodes)
  }
  return nodes
}

/** The slot's master, as this node knows it. Without a slot, the node itself. */
async function askNode(
  target: RedisCluster,
  node: HostPort,
  slot: number | undefined,
): Promise<HostPort | undefined> {
  const redis = new Redis({ ...node, ...accessOptions(target), ...ASKING })
  const ranges = (await askOnce(redis, () => redis.cluster('SLOTS'))) as unknown as SlotRange[]
  const nodes = nodesOf(target)
  for (const [, , ...places] of ranges) {
    for (const place of places) remember(nodes, reachable(target, node, place))
  }
  if (slot === undefined) return node
  const range = ranges.find(([from, to]) => from <= slot && slot <= to)
  return range?.[2] && reachable(target, node, range[2])
}

type Place = [host: string | null, port: number]
type SlotRange = [from: number, to: number, ...places: Place[]]

/**
 * The address at which a node can be reached. A node that does not know its own address leaves it out of its answer.
 * The address is then that of the node that was asked.
 */
function reachable(target: RedisCluster, asked: HostPort, [host, port]: Place): HostPort {
  const place = { host: host || asked.host, port }
  return target.natMap?.[nameOf(place)] ?? place
}

function remember(nodes: Map<string, HostPort>, node: HostPort): void {
  if (nodes.size < NODES_MAX) nodes.set(nameOf(node), node)
}

export function accessOptions({ username, password, tls }: RedisAccess): RedisOptions {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls } : {}),
  }
}

/** An IP address cannot be a server name in TLS. The certificate is still checked against it. */
function tlsOptions(place: HostPort, tls: RedisTls) {
  return { ...place, ...(isIP(place.host) ? {} : { servername: place.host }), ...tls }
}

function nameOf({ host, port }: HostPort): string {
  return `${host}:${port}`
}

function shuffled<T>(items: Iterable<T>): T[] {
  return [...items]
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
