/**
 * A real Redis of one's own for a test file: spawned on a free loopback port with a temporary folder, gone with it.
 * The binary is FANTAIL_REDIS_SERVER, or the one that the bootstrap unpacked, or redis-server / valkey-server on PATH.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { waitFor } from './wait-for.ts'

export interface TestRedis {
  url: string
  port: number
  /** Process id of the server that runs now. */
  pid(): number
  /** SIGKILL; what is on disk stays. */
  kill(): Promise<void>
  /** SIGSTOP and SIGCONT: a Redis that accepts connections and does not answer. */
  freeze(): void
  thaw(): void
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

export interface TestRedisOptions {
  /** Extra redis.conf settings as command line words, e.g. `['--maxmemory', '32mb']`. */
  args?: string[]
  /** `always` makes what was answered survive a kill; default: no persistence at all. */
  appendfsync?: 'always' | 'everysec'
}

/** Starts a Redis and resolves when it answers. */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'fantail-redis-'))
  const words = serverWords(port, dir, options)
  let child = await launch(words, port)
  const kill = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: () => child.pid ?? 0,
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    restart: async () => {
      child = await launch(words, port)
    },
    stop: async () => {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

function serverWords(port: number, dir: string, options: TestRedisOptions): string[] {
  const persistence = options.appendfsync
    ? ['--appendonly', 'yes', '--appendfsync', options.appendfsync]
    : ['--appendonly', 'no']
  const base = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '']
  return [...base, '--maxmemory-policy', 'noeviction', ...persistence, ...(options.args ?? [])]
}

async function launch(words: string[], port: number): Promise<ChildProcess> {
  const child = spawn(redisServerPath(), words, { stdio: 'ignore' })
  const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 10, maxRetriesPerRequest: null })
  probe.on('error', () => {
    // Refused until the server listens; the wait below is what fails when it never does.
  })
  try {
    await waitFor(async () => (await probe.ping()) === 'PONG', { what: 'redis-server to answer' })
  } finally {
    probe.disconnect()
  }
  return child
}

/** The server binary; throws with the way to get one where there is none. */
export function redisServerPath(): string {
  const unpacked = fileURLToPath(new URL('../../../.fantail/redis/bin/redis-server', import.meta.url))
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((dir) => [join(dir, 'redis-server'), join(dir, 'valkey-server')])
  const found = [process.env.FANTAIL_REDIS_SERVER ?? '', unpacked, ...onPath].find(
    (path) => path !== '' && existsSync(path),
  )
  if (!found) throw new Error('no redis-server found: `npm test` installs one')
  return found
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
