/** A Redis of its own for each contestant, with the settings that Fantail ships; its data goes when it ends. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, redisServerPath, waitFor } from '@fantail/test-kit'
import { Redis } from 'ioredis'
import { end, root, start } from './children.ts'

export interface BenchRedis {
  url: string
  pid: number
  stop(): Promise<void>
}

const dirs = new Set<string>()

export async function startBenchRedis(): Promise<BenchRedis> {
  const port = await freePort()
  const dir = await mkdtemp(join(tmpdir(), 'fantail-bench-'))
  dirs.add(dir)
  const words = [join(root, 'infra/redis/redis.conf'), '--port', String(port), '--dir', dir]
  const child = start(redisServerPath(), words, { quiet: true })
  const probe = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null })
  // Refused until the server listens; the wait below fails when it never does.
  probe.on('error', () => undefined)
  try {
    await waitFor(async () => (await probe.ping()) === 'PONG', { what: 'Redis to answer' })
  } finally {
    probe.disconnect()
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      await end(child)
      await removeData(dir)
    },
  }
}

async function removeData(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true })
  dirs.delete(dir)
}

/** After a run that was cut short. */
export async function removeAllData(): Promise<void> {
  await Promise.all([...dirs].map(removeData))
}

/** What Redis spent its time on, commands inside scripts included. */
export async function commandReport(url: string, top = 20): Promise<string> {
  const redis = new Redis(url)
  const text = await redis.info('commandstats')
  redis.disconnect()
  const lines = Array.from(
    text.matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g),
    ([, name, calls, usec]) => ({
      name: name ?? '',
      calls: Number(calls),
      ms: Number(usec) / 1_000,
    }),
  )
  return lines
    .sort((a, b) => b.ms - a.ms)
    .slice(0, top)
    .map(({ name, calls, ms }) => `  ${ms.toFixed(0).padStart(6)} ms ${String(calls).padStart(9)} x ${name}`)
    .join('\n')
}
