/** A Redis for each contestant, with the settings that Fantail ships. Its data is deleted when it ends. */
import { readFileSync } from 'node:fs'
import { startRedis, type TestRedis } from '@fantail/test-kit'
import { Redis } from 'ioredis'

export interface BenchRedis {
  url: string
  pid: number
  /** Disconnected with the server. */
  client: Redis
  /** CPU time so far, with background threads. It is more precise than /proc. */
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

/** Settings about where and how a server runs, which are not compared. */
const PLACE = new Set(['bind', 'port', 'protected-mode', 'dir', 'daemonize', 'logfile', 'loglevel'])
const running = new Map<TestRedis, Redis>()

export async function startBenchRedis(): Promise<BenchRedis> {
  const file = new URL('../../../infra/redis/redis.conf', import.meta.url)
  const args = settingWords(readFileSync(file, 'utf8'))
  const redis = await startRedis({ appendfsync: 'always', args })
  const client = new Redis(redis.url)
  running.set(redis, client)
  return {
    url: redis.url,
    pid: redis.pid(),
    client,
    cpuMs: async () => usedCpuMs(await client.info('cpu')),
    stop: async () => {
      running.delete(redis)
      client.disconnect()
      await redis.stop()
    },
  }
}

/** Stops every server that an interrupted run has left running. */
export async function stopEveryRedis(): Promise<void> {
  for (const client of running.values()) client.disconnect()
  await Promise.all([...running.keys()].map((redis) => redis.stop()))
  running.clear()
}

/** Reads the figures from `INFO cpu`. */
export function usedCpuMs(info: string): number {
  const seconds = Array.from(info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm), ([, value]) => Number(value))
  return seconds.reduce((sum, value) => sum + value, 0) * 1_000
}

/** The settings of a redis.conf as command line words. */
export function settingWords(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))
    .filter(([name = '']) => !PLACE.has(name))
    .flatMap(([name, ...values]) => [`--${name}`, ...values.map((value) => (value === '""' ? '' : value))])
}

/** Redis's time by command, commands inside scripts included. */
export async function commandReport(url: string, top = 20): Promise<string> {
  const redis = new Redis(url)
  const text = await redis.info('commandstats')
  redis.disconnect()
  const found = Array.from(text.matchAll(/cmdstat_(\S+?):calls=(\d+),usec=(\d+)/g))
  const commands = found.map(([, name, calls, usec]) => ({ name, calls, ms: Number(usec) / 1_000 }))
  return commands
    .sort((a, b) => b.ms - a.ms)
    .slice(0, top)
    .map(({ name, calls = '', ms }) => `  ${ms.toFixed(0).padStart(6)} ms ${calls.padStart(9)} x ${name}`)
    .join('\n')
}
