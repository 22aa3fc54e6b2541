/** The three that are measured, each behind the same few calls. */
import type { ChildProcess } from 'node:child_process'
import { end, startOwn } from './children.ts'
import { startFantail } from './fantail.ts'
import { ask, type LoadOptions, type LoadResult } from './ipc.ts'
import { type BenchRedis, startBenchRedis } from './redis.ts'

export const NAMES = ['fantail', 'bullmq', 'bare'] as const
export type Name = (typeof NAMES)[number]

export interface Ends {
  /** Where deliveries go. */
  receiverPort: number
  /** The process that publishes. */
  publishers: ChildProcess
  /** Folder for CPU profiles of Fantail's processes. */
  profileDir?: string | undefined
}

export type Load = Pick<LoadOptions, 'connections' | 'durationMs' | 'requestsMax' | 'bodyBytes' | 'batch'>

export interface Contestant {
  /** Pids of what takes part between publish and delivery, Redis apart. */
  processes: Record<string, number>
  /** Its Redis, where it has one. */
  redis?: BenchRedis
  /** Publishes, for the time given, messages that everyone of `paths` gets. */
  load(paths: string[], load: Load): Promise<LoadResult>
  stop(): Promise<void>
}

export const START: Record<Name, (ends: Ends) => Promise<Contestant>> = {
  fantail: startFantail,
  bullmq: startBullmq,
  bare: startBare,
}

async function startBullmq({ receiverPort, publishers }: Ends): Promise<Contestant> {
  const redis = await startBenchRedis()
  const env = { REDIS_URL: redis.url }
  const [api, worker] = await Promise.all([
    startOwn('./bullmq-api-process.ts', env),
    startOwn('./bullmq-worker-process.ts', env),
  ])
  const port = await ask<number>(api, 'port')
  return {
    processes: { api: api.pid ?? 0, worker: worker.pid ?? 0 },
    redis,
    load: async (paths, load) => {
      const topic = `fanout-${paths.length}`
      const urls = paths.map((path) => `http://127.0.0.1:${receiverPort}${path}`)
      await ask(api, 'topic', { topic, urls })
      return ask(publishers, 'load', { port, paths: [`/topics/${topic}/messages`], ...load })
    },
    stop: async () => {
      await Promise.all([end(api), end(worker)])
      await redis.stop()
    },
  }
}

async function startBare({ receiverPort }: Ends): Promise<Contestant> {
  const bare = await startOwn('./bare-process.ts')
  return {
    processes: { loop: bare.pid ?? 0 },
    load: (paths, load) => ask(bare, 'load', { port: receiverPort, paths, ...load }),
    stop: () => end(bare),
  }
}
