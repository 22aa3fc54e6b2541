/** The contestants, each behind the same interface. */
import { startBenchRedis } from '../processes/bench-redis.ts'
import { end, startOwn } from '../processes/children.ts'
import { ask } from '../processes/ipc.ts'
import type { Contestant, Ends, Name } from './contestant.ts'
import { startFantail } from './fantail.ts'

export const START: Record<Name, (ends: Ends) => Promise<Contestant>> = {
  fantail: startFantail,
  earlier: ({ receiverPort, publishers, earlierTree: tree }) =>
    startFantail({ receiverPort, publishers, tree }),
  bullmq: startBullmq,
  bare: startBare,
}

/** `settings`: further environment of the worker. */
export async function startBullmq(
  { receiverPort, publishers }: Ends,
  settings: NodeJS.ProcessEnv = {},
): Promise<Contestant & { createTopic(topic: string, urls: string[]): Promise<void>; port: number }> {
  const redis = await startBenchRedis()
  const env = { ...settings, REDIS_URL: redis.url }
  const [api, worker] = await Promise.all([
    startOwn('../contest/bullmq-api-process.ts', env),
    startOwn('../contest/bullmq-worker-process.ts', env),
  ])
  const port = await ask<number>(api, 'port')
  return {
    processes: { api: api.pid ?? 0, worker: worker.pid ?? 0 },
    redis,
    port,
    createTopic: (topic, urls) => ask(api, 'topic', { topic, urls }),
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
  const bare = await startOwn('../contest/bare-process.ts')
  return {
    processes: { loop: bare.pid ?? 0 },
    load: (paths, load) => ask(bare, 'load', { port: receiverPort, paths, ...load }),
    stop: () => end(bare),
  }
}
