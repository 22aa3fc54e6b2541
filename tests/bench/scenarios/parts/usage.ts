/** Figures of processes and Redis, to be read before and after. */
import { readFileSync } from 'node:fs'
import { waitFor } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { usedCpuMs } from '../../processes/bench-redis.ts'

/** CPU time of a Redis with its background threads, in ms. It is more precise than /proc. */
export async function redisCpuMs(redis: Redis): Promise<number> {
  return usedCpuMs(await redis.info('cpu'))
}

/** Commands that clients sent and those inside scripts. */
export async function redisCommands(redis: Redis): Promise<number> {
  return numberIn(await redis.info('stats'), 'total_commands_processed')
}

/** `used_memory`, read while no rewrite of the append-only file adds to it. */
export async function redisBytes(redis: Redis): Promise<number> {
  const isQuiet = async () => numberIn(await redis.info('persistence'), 'aof_rewrite_in_progress') === 0
  await waitFor(isQuiet, { what: 'the rewrite of the append-only file', timeoutMs: 60_000, intervalMs: 50 })
  return numberIn(await redis.info('memory'), 'used_memory')
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(found?.[1]) * 1_024
}

function numberIn(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
}
