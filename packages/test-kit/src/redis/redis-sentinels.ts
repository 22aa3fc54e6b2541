/**
 * A master, its replicas and three Sentinels on loopback. About two seconds after the master is killed, a replica takes
 * over.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { atFreePort } from '../network/ports.ts'
import { waitFor } from '../waiting/wait-for.ts'
import { startProcess } from './redis-process.ts'
import {
  redisServerPath,
  startRedis,
  type TestRedis,
  type TestRedisOptions,
  untilItAnswers,
} from './redis-server.ts'
import { clientTls, type TestTls, tlsSettings } from './redis-tls.ts'

const NAME = 'fantail'
const SENTINELS = 3
const QUORUM = 2
const DOWN_AFTER_MS = 800
const FAILOVER_TIMEOUT_MS = 6_000

export interface TestSentinels {
  /** The initial master, then its replicas. */
  nodes: TestRedis[]
  name: string
  /** For REDIS_SENTINELS. */
  addresses: string
  target: { sentinels: { host: string; port: number }[]; name: string }
  master(): Promise<TestRedis>
  /** Starts a master that was replaced, as a replica. Sentinels themselves take eight seconds for that. */
  rejoin(old: TestRedis): Promise<void>
  /** The end of what each Sentinel has logged. */
  logTexts(): Promise<string[]>
  stop(): Promise<void>
}

interface TestSentinelsOptions extends TestRedisOptions {
  /** Default 2. */
  replicas?: number
}

export async function startSentinels(options: TestSentinelsOptions = {}): Promise<TestSentinels> {
  const { replicas = 2, ...redis } = options
  const args = ['--repl-diskless-sync-delay', '0', ...(redis.args ?? [])]
  const server = { ...redis, spawned: true }
  const master = await startRedis({ ...server, args })
  const nodes = [master]
  for (let i = 0; i < replicas; i++) {
    nodes.push(
      await startRedis({ ...server, args: [...args, '--replicaof', '127.0.0.1', String(master.port)] }),
    )
  }
  const dir = await mkdtemp(join(tmpdir(), 'fantail-sentinels-'))
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, () =>
      atFreePort((port) => startSentinel({ port, dir, masterPort: master.port, tls: redis.tls })),
    ),
  )
  const stop = async () => {
    for (const { client } of sentinels) client.disconnect()
    await Promise.all([...sentinels.map(({ kill }) => kill()), ...nodes.map((node) => node.stop())])
    await rm(dir, { recursive: true, force: true })
  }
  try {
    for (const { client } of sentinels) {
      const known = () => knows(client, replicas)
      await waitFor(known, { what: 'Sentinels to know each other and the replicas', timeoutMs: 20_000 })
    }
  } catch (error) {
    await stop()
    throw error
  }
  const masterNow = () => masterAmong(nodes, sentinels[0]?.client)
  const places = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
  return {
    nodes,
    name: NAME,
    addresses: places.map(({ host, port }) => `${host}:${port}`).join(','),
    target: { sentinels: places, name: NAME },
    master: masterNow,
    async rejoin(old) {
      await old.restart()
      await follow(old, await masterNow(), redis.tls)
    },
    logTexts: () =>
      Promise.all(sentinels.map(async ({ port, logText }) => `Sentinel at ${port}:\n${await logText()}`)),
    stop,
  }
}

interface SentinelOptions {
  port: number
  dir: string
  masterPort: number
  tls: TestTls | undefined
}

async function startSentinel({ port, dir, masterPort, tls }: SentinelOptions) {
  const path = join(dir, `${port}.conf`)
  const log = join(dir, `${port}.log`)
  const lines = [
    ...(tls ? tlsSettings(port, tls).map((setting) => setting.join(' ')) : [`port ${port}`]),
    'bind 127.0.0.1',
    `dir ${dir}`,
    `logfile ${log}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
  ]
  await writeFile(path, `${lines.join('\n')}\n`)
  const sentinel = startProcess(redisServerPath(), [path, '--sentinel'], log)
  const patience = { retryStrategy: () => 20, maxRetriesPerRequest: null }
  const client = new Redis(port, '127.0.0.1', { ...patience, ...clientTls(tls) })
  client.on('error', () => {
    // The server does not listen yet. The caller's wait fails if it never does.
  })
  try {
    await untilItAnswers(client, sentinel)
  } catch (error) {
    client.disconnect()
    await sentinel.kill()
    throw error
  }
  return { port, client, kill: sentinel.kill, logText: sentinel.logText }
}

async function masterAmong(nodes: TestRedis[], sentinel: Redis | undefined): Promise<TestRedis> {
  const asked = sentinel?.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)
  const port = ((await asked) as string[] | undefined)?.[1]
  const node = nodes.find((one) => String(one.port) === port)
  if (!node) throw new Error('no master')
  return node
}

async function follow(node: TestRedis, master: TestRedis, tls: TestTls | undefined): Promise<void> {
  const client = new Redis(node.port, '127.0.0.1', clientTls(tls))
  try {
    await client.replicaof('127.0.0.1', master.port)
  } finally {
    client.disconnect()
  }
}

async function knows(client: Redis, replicas: number): Promise<boolean> {
  const flat = (await client.call('SENTINEL', 'MASTER', NAME)) as string[] | Record<string, string>
  const entries = Array.isArray(flat)
    ? flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]]] : []))
    : Object.entries(flat)
  const fields: Record<string, string> = Object.fromEntries(entries)
  return fields['num-slaves'] === String(replicas) && fields['num-other-sentinels'] === String(SENTINELS - 1)
}
