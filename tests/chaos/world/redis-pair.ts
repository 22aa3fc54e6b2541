/**
 * The Redis of a run: a master behind a fixed address, and perhaps a replica that follows it over a separate
 * connection, which can be slow. A failover kills the master, points the address to the replica, and makes the dead
 * server the new master's replica.
 */
import { startRedis, type TestRedis, type TestRedisOptions, waitFor } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { startTcpProxy, type TcpProxy } from '../../harness/redis/tcp-proxy.ts'
import { redisFigure } from '../../harness/services/process-figures.ts'

const MAX_MEMORY = '256mb'
const COMMAND_TIMEOUT_MS = 10_000
const SYNC_TIMEOUT_MS = 60_000
const ARGS = ['--maxmemory', MAX_MEMORY, '--repl-diskless-sync-delay', '0', '--shutdown-timeout', '0']

interface Node {
  redis: TestRedis
  /** The proxy by which the replica follows the master. */
  link: TcpProxy
}

export interface PairOptions extends Pick<TestRedisOptions, 'appendfsync' | 'args' | 'env'> {
  replicated: boolean
}

export class RedisPair {
  /** The address that services connect to. */
  readonly address: TcpProxy
  /** Another address of the same server, so that one part of the services can be cut off. */
  readonly aside: TcpProxy
  #master: Node
  #replica: Node | undefined
  /** The time since which the replica has followed (performance.now()). Infinity: it does not follow. */
  #followsSince = Number.POSITIVE_INFINITY

  private constructor([address, aside]: [TcpProxy, TcpProxy], master: Node, replica: Node | undefined) {
    this.address = address
    this.aside = aside
    this.#master = master
    this.#replica = replica
  }

  static async start({ replicated, args = [], ...options }: PairOptions): Promise<RedisPair> {
    const startNode = async (): Promise<Node> => {
      const words = [...ARGS, ...args]
      const redis = await startRedis({ appendfsync: 'always', spawned: true, ...options, args: words })
      return { redis, link: await startTcpProxy(redis.port) }
    }
    const master = await startNode()
    const replica = replicated ? await startNode() : undefined
    const { port } = master.redis
    const pair = new RedisPair([await startTcpProxy(port), await startTcpProxy(port)], master, replica)
    if (replica) await pair.follow()
    return pair
  }

  get master(): TestRedis {
    return this.#master.redis
  }

  get replicated(): boolean {
    return this.#replica !== undefined
  }

  /** For how many ms the replica has followed, since the last break that a fault caused. */
  get followedMs(): number {
    return performance.now() - this.#followsSince
  }

  /**
   * Must be called if a fault of the master breaks the connection, or may break it. The replica counts as following
   * only from then on.
   */
  linkBroke(): void {
    if (this.#replica) this.#followsSince = performance.now()
  }

  /** Asks the master itself, on a new connection that bypasses the address. */
  ask<T>(question: (redis: Redis) => Promise<T>): Promise<T> {
    return askNode(this.#master.redis, question)
  }

  delayReplica(ms: number): void {
    this.#master.link.delayReplies(ms)
  }

  /** `maxmemory` becomes the memory in use. */
  fillMemory(): Promise<unknown> {
    return this.ask(async (connection) => {
      const used = await redisFigure(connection, 'memory', 'used_memory')
      return connection.config('SET', 'maxmemory', used)
    })
  }

  async killReplica(): Promise<void> {
    await this.#replica?.redis.kill()
  }

  /** Resolves when the replica is the master. The former master is dead. */
  async failOver(): Promise<void> {
    const { redis, link } = this.#master
    if (!this.#replica) throw new Error('there is no replica')
    await redis.kill()
    link.delayReplies(0)
    const dead = this.#master
    this.#master = this.#replica
    this.#replica = dead
    this.#followsSince = Number.POSITIVE_INFINITY
    await this.ask((master) => master.replicaof('NO', 'ONE'))
    for (const address of [this.address, this.aside]) address.leadTo(this.#master.redis.port)
  }

  /** Starts the former master again, as the replica. */
  async rejoin(): Promise<void> {
    await this.#replica?.redis.restart()
    await this.follow()
  }

  /** Resolves when the replica has all data. */
  async follow(): Promise<void> {
    if (!this.#replica) return
    const { redis } = this.#replica
    const { port } = this.#master.link
    await askNode(redis, (replica) => replica.replicaof('127.0.0.1', port))
    const isLinked = () =>
      askNode(redis, async (replica) => (await replica.info('replication')).includes('master_link_status:up'))
    await waitFor(isLinked, { what: 'the replica to follow', timeoutMs: SYNC_TIMEOUT_MS, intervalMs: 50 })
    this.#followsSince = performance.now()
  }

  /** The folder of the master's data. */
  async folder(): Promise<string> {
    const [, dir = ''] = await this.ask((redis) => redis.config('GET', 'dir') as Promise<string[]>)
    return dir
  }

  async stop(): Promise<void> {
    for (const address of [this.address, this.aside]) await address.close()
    for (const node of [this.#master, this.#replica]) {
      await node?.link.close()
      await node?.redis.stop()
    }
  }
}

async function askNode<T>(node: TestRedis, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(node.port, '127.0.0.1', {
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: () => 50,
  })
  redis.on('error', () => {
    // Connecting is tried again. A question without an answer rejects after its time-out.
  })
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}
