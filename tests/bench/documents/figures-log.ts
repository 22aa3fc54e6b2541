/**
 * The raw log of a run whose figures are published: lines of JSON. The first line says which commit was measured on
 * which machine. Each other line is the progress of a scenario, or one of its rows.
 */
import { availableParallelism, cpus, release, type } from 'node:os'
import { Redis } from 'ioredis'
import { startBenchRedis } from '../processes/bench-redis.ts'
import { commitOf } from '../processes/checkout.ts'
import type { Row } from '../scenario.ts'

interface FiguresHead {
  commit: string
  /** Day of the start. */
  measuredOn: string
  machine: string
  /** Versions of the kernel, Node and Redis. */
  software: string
  /** The run was a trial, and its figures mean nothing. */
  quick: boolean
}

export interface FiguresLog {
  head: FiguresHead
  rows: (Row & { scenario: string })[]
  progress: { scenario: string; text: string }[]
}

export async function headOf(quick: boolean): Promise<FiguresHead> {
  const kernel = `${type()} ${release()}`
  return {
    commit: commitOf('HEAD'),
    measuredOn: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`,
    software: `${kernel}, Node ${process.versions.node}, Redis ${await redisVersion()}`,
    quick,
  }
}

async function redisVersion(): Promise<string> {
  const server = await startBenchRedis()
  const redis = new Redis(server.url)
  const found = /^redis_version:(\S+)/m.exec(await redis.info('server'))
  redis.disconnect()
  await server.stop()
  return found?.[1] ?? 'of an unknown version'
}

export function parseLog(text: string): FiguresLog {
  const [head, ...lines] = text.trim().split('\n')
  const parsed = lines.map((line) => JSON.parse(line))
  const rows = parsed.filter((line) => 'figure' in line)
  const progress = parsed.filter((line) => 'text' in line)
  return { head: JSON.parse(head ?? ''), rows, progress }
}
