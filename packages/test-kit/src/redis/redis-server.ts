/**
 * A real Redis for one test file, with a free loopback port and a data folder. Both are removed with it. It runs in a
 * container if FANTAIL_TEST_REDIS=container and a Docker daemon answers. Otherwise a binary is spawned:
 * FANTAIL_TEST_REDIS_SERVER or FANTAIL_REDIS_SERVER, or the one that the bootstrap unpacked, or redis-server /
 * valkey-server on PATH.
 */
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { atFreePort } from '../network/ports.ts'
import { waitFor } from '../waiting/wait-for.ts'
import { type RedisRuntime, spawnServer } from './redis-process.ts'
import { clientTls, type TestTls, tlsWords } from './redis-tls.ts'

export interface TestRedis {
  url: string
  port: number
  /** Process id of the present server. For a container, it is the id on the host. */
  pid(): number
  /** Sends SIGKILL. Data on disk stays. */
  kill(): Promise<void>
  /** SIGSTOP and SIGCONT. A frozen Redis accepts connections and does not answer. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>
  /** The end of what it has logged. */
  logText(): Promise<string>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

export interface TestRedisOptions {
  /** Extra redis.conf settings as command line words, e.g. `['--maxmemory', '32mb']`. */
  args?: string[]
  /** `always`: answered writes survive a kill. Default: no persistence at all. */
  appendfsync?: 'always' | 'everysec'
  /** Variables that are added to the environment of a spawned server. */
  env?: Record<string, string>
  /** Always spawns a process, for servers that must find each other. */
  spawned?: boolean
  /** Default: a free one. */
  port?: number
  /** The binary to spawn. Default: as described above. */
  command?: string
  /** The server only speaks TLS, and requires certificates of clients. */
  tls?: TestTls | undefined
}

/** Starts a Redis and resolves when it answers. Rejects if another program has the requested port. */
export function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const { port } = options
  return port === undefined ? atFreePort((free) => startAt(free, options)) : startAt(port, options)
}

/** A connection that queues commands while the server is away, and sends those again that got no answer. */
export function connectPatiently(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {
    // Commands wait for the next connection.
  })
  return redis
}

async function startAt(port: number, options: TestRedisOptions): Promise<TestRedis> {
  const { tls } = options
  const runtime = await launch(port, options)
  const stop = async () => {
    await runtime.kill()
    await runtime.remove()
  }
  try {
    await untilAnswers(runtime, port, tls)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    port,
    pid: runtime.pid,
    kill: runtime.kill,
    freeze: runtime.freeze,
    thaw: runtime.thaw,
    restart: async () => {
      await runtime.start()
      await untilAnswers(runtime, port, tls)
    },
    logText: runtime.logText,
    stop,
  }
}

async function launch(port: number, options: TestRedisOptions): Promise<RedisRuntime> {
  const { command, env = {}, spawned, tls } = options
  const words = [...settingWords(options), ...(tls ? tlsWords(port, tls) : [])]
  const contained = spawned || command ? undefined : await inContainer(port, words)
  return contained ?? spawnServer({ command: command ?? redisServerPath(), port, words, env })
}

async function inContainer(port: number, words: string[]): Promise<RedisRuntime | undefined> {
  if (process.env.FANTAIL_TEST_REDIS !== 'container') return undefined
  // Loaded only here, because loading it takes longer than starting a server.
  const { containerProblem, startContainer } = await import('./redis-container.ts')
  return (await containerProblem()) ? undefined : startContainer(port, words)
}

function settingWords(options: TestRedisOptions): string[] {
  const persistence = options.appendfsync
    ? ['--appendonly', 'yes', '--appendfsync', options.appendfsync]
    : ['--appendonly', 'no']
  // A text that a test looks for in a dump is not hidden by compression.
  const plain = ['--rdbcompression', 'no']
  return ['--save', '', '--maxmemory-policy', 'noeviction', ...plain, ...persistence, ...(options.args ?? [])]
}

async function untilAnswers(runtime: RedisRuntime, port: number, tls: TestTls | undefined): Promise<void> {
  const patience = { retryStrategy: () => 10, maxRetriesPerRequest: null }
  const probe = new Redis(port, '127.0.0.1', { ...patience, ...clientTls(tls) })
  probe.on('error', () => {
    // Connections are refused until the server listens. The wait below fails if it never does.
  })
  try {
    await untilItAnswers(probe, runtime)
  } finally {
    probe.disconnect()
  }
}

/** Resolves when the server answers this client. Rejects if the server ended before. */
export async function untilItAnswers(
  client: Redis,
  server: Pick<RedisRuntime, 'ended' | 'isOwn'>,
): Promise<void> {
  const answers = async () => {
    const problem = await server.ended()
    if (problem) throw new Error(problem)
    return client.status === 'ready' && server.isOwn(await client.info('server'))
  }
  await waitFor(answers, { what: 'redis-server to answer' })
}

/** The server binary. If there is none, it throws and says how to get one. */
export function redisServerPath(): string {
  const found = findServer()
  if (!found) throw new Error('no redis-server found: `npm test` installs one')
  return found
}

/** Whether servers can be spawned. Tests of clusters are skipped if only containers can be used. */
export function canSpawnRedis(): boolean {
  return findServer() !== undefined
}

/** Whether servers can be spawned and were built with TLS. */
export function canSpawnTlsRedis(): boolean {
  const path = findServer()
  return path !== undefined && readFileSync(path).includes('tls-cert-file')
}

function findServer(): string | undefined {
  const unpacked = fileURLToPath(new URL('../../../../.fantail/redis/bin/redis-server', import.meta.url))
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((dir) => [join(dir, 'redis-server'), join(dir, 'valkey-server')])
  const named = process.env.FANTAIL_TEST_REDIS_SERVER ?? process.env.FANTAIL_REDIS_SERVER ?? ''
  return [named, unpacked, ...onPath].find((path) => path !== '' && existsSync(path))
}

/**
 * Servers for tests of features that differ between releases. `usual` is the server of every test. `newer` is Redis 7.2
 * or later (any Valkey is), if that is another binary: FANTAIL_TEST_NEWER_REDIS_SERVER or valkey-server on PATH.
 * undefined: there is none.
 */
export function redisReleases(): { usual: string | undefined; newer: string | undefined } {
  const usual = findServer()
  const named = process.env.FANTAIL_TEST_NEWER_REDIS_SERVER ?? ''
  const onPath = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'valkey-server'))
  const newer = [named, ...onPath].find((path) => path !== '' && path !== usual && existsSync(path))
  return { usual, newer }
}
