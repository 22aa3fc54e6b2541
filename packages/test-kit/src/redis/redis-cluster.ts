/**
 * A real Redis Cluster on loopback: three masters, each with replicas. About a second after a master is killed, a
 * replica takes over.
 */
import { Redis } from 'ioredis'
import { waitFor } from '../waiting/wait-for.ts'
import { startRedis, type TestRedis, type TestRedisOptions } from './redis-server.ts'
import { clientTls, type TestTls } from './redis-tls.ts'

const MASTERS = 3
const SLOTS = 16_384
const NODE_TIMEOUT_MS = 1_000
const KEYS_AT_ONCE = 100

export interface TestCluster {
  /** The initial masters, then their replicas in the same order. */
  nodes: TestRedis[]
  /** For REDIS_CLUSTER_NODES. */
  addresses: string
  target: { nodes: { host: string; port: number }[] }
  /** The node that most nodes call the slot's master now. */
  masterOf(slot: number): Promise<TestRedis>
  /**
   * Moves a slot with all its keys the way `redis-cli --cluster reshard` does. `halfway` is called when half of the
   * keys have been moved.
   */
  moveSlot(slot: number, to: TestRedis, halfway?: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

interface TestClusterOptions extends TestRedisOptions {
  /** Replicas of each master; default 1. */
  replicas?: number
}

export async function startCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const { replicas = 1, ...redis } = options
  const words = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(NODE_TIMEOUT_MS)]
  const own = ['--cluster-require-full-coverage', 'no', '--repl-diskless-sync-delay', '0']
  const args = [...words, ...own, ...(redis.args ?? [])]
  const nodes: TestRedis[] = []
  for (let i = 0; i < MASTERS * (1 + replicas); i++) {
    nodes.push(await startRedis({ ...redis, args, spawned: true }))
  }
  const clients = nodes.map((node) => clientOf(node, redis.tls))
  try {
    await form(nodes, clients)
  } catch (error) {
    for (const client of clients) client.disconnect()
    await Promise.all(nodes.map((node) => node.stop()))
    throw error
  }
  return {
    nodes,
    addresses: nodes.map(({ port }) => `127.0.0.1:${port}`).join(','),
    target: { nodes: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) },
    masterOf: (slot) => masterOf(nodes, clients, slot),
    moveSlot: (slot, to, halfway) => moveSlot({ nodes, clients, slot, to, halfway }),
    async stop() {
      for (const client of clients) client.disconnect()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}

function clientOf({ port }: TestRedis, tls: TestTls | undefined): Redis {
  const patience = { retryStrategy: () => 100, maxRetriesPerRequest: 3 }
  const client = new Redis(port, '127.0.0.1', { ...patience, ...clientTls(tls) })
  client.on('error', () => {
    // The test has killed this node. A command to it fails, so this error needs no handling.
  })
  return client
}

async function form(nodes: TestRedis[], clients: Redis[]): Promise<void> {
  const [first, ...others] = clients
  for (const [i, client] of clients.entries()) await client.cluster('SET-CONFIG-EPOCH', i + 1)
  for (const [i, client] of clients.slice(0, MASTERS).entries()) {
    const from = Math.ceil((i * SLOTS) / MASTERS)
    const slots = Array.from({ length: Math.ceil(((i + 1) * SLOTS) / MASTERS) - from }, (_, n) => from + n)
    await client.cluster('ADDSLOTS', slots)
  }
  for (const { port } of nodes.slice(1)) await first?.cluster('MEET', '127.0.0.1', port)
  const wait = { timeoutMs: 20_000, intervalMs: 20 }
  const know = async (client: Redis) => (await knownNodes(client)) === nodes.length
  for (const client of clients) await waitFor(() => know(client), { ...wait, what: 'nodes to meet' })
  const ids = await Promise.all(clients.slice(0, MASTERS).map((client) => client.cluster('MYID')))
  for (const [i, client] of clients.slice(MASTERS).entries()) {
    await client.cluster('REPLICATE', String(ids[i % MASTERS]))
  }
  const inOrder = async (client: Redis) => {
    const [info, replication] = [await client.cluster('INFO'), await client.info('replication')]
    const linked = !replication.includes('role:slave') || replication.includes('master_link_status:up')
    return String(info).includes('cluster_state:ok') && linked
  }
  for (const client of [...others, ...(first ? [first] : [])]) {
    await waitFor(() => inOrder(client), { ...wait, what: 'the cluster to be in order' })
  }
  const replicated = async (client: Redis) =>
    (await client.info('replication')).includes(`connected_slaves:${nodes.length / MASTERS - 1}`)
  for (const client of clients.slice(0, MASTERS)) {
    await waitFor(() => replicated(client), { ...wait, what: 'masters to have their replicas' })
  }
}

async function knownNodes(client: Redis): Promise<number> {
  return String(await client.cluster('NODES'))
    .trim()
    .split('\n')
    .filter((line) => !line.includes('handshake')).length
}

type SlotRange = [from: number, to: number, master: [host: string, port: number]]

async function masterOf(nodes: TestRedis[], clients: Redis[], slot: number): Promise<TestRedis> {
  const votes = await votesOf(clients, slot)
  const count = (port: number) => votes.filter((vote) => vote === port).length
  const [port] = votes.toSorted((a, b) => count(b) - count(a))
  const master = nodes.find((node) => node.port === port)
  if (!master) throw new Error(`no node has slot ${slot}`)
  return master
}

/** The port of the slot's master, according to each node that answers. */
async function votesOf(clients: Redis[], slot: number): Promise<number[]> {
  const said = await Promise.allSettled(
    clients.filter(({ status }) => status === 'ready').map((client) => client.cluster('SLOTS')),
  )
  return said.flatMap((answer) => {
    if (answer.status === 'rejected') return []
    const ranges = answer.value as unknown as SlotRange[]
    return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1] ?? []
  })
}

interface Move {
  nodes: TestRedis[]
  clients: Redis[]
  slot: number
  to: TestRedis
  halfway?: (() => Promise<void>) | undefined
}

async function moveSlot({ nodes, clients, slot, to, halfway }: Move): Promise<void> {
  const from = await masterOf(nodes, clients, slot)
  if (from === to) return
  const [source, target] = [clients[nodes.indexOf(from)], clients[nodes.indexOf(to)]]
  if (!source || !target) throw new Error('not a node of this cluster')
  const [sourceId, targetId] = [String(await source.cluster('MYID')), String(await target.cluster('MYID'))]
  await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId)
  await source.cluster('SETSLOT', slot, 'MIGRATING', targetId)
  const half = Math.floor(Number(await source.cluster('COUNTKEYSINSLOT', slot)) / 2)
  const move = async (max: number) => {
    const keys = (await source.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, max)) as Buffer[]
    if (keys.length > 0) await source.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys)
    return keys.length
  }
  if (half > 0) await move(half)
  await halfway?.()
  while ((await move(KEYS_AT_ONCE)) > 0);
  await target.cluster('SETSLOT', slot, 'NODE', targetId)
  await source.cluster('SETSLOT', slot, 'NODE', targetId)
  const isKnown = async () => (await votesOf(clients, slot)).every((port) => port === to.port)
  await waitFor(isKnown, { what: `all nodes to know where slot ${slot} is` })
}
