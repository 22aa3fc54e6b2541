/** Fantail as its users run it: all services as processes from their own entries, driven over HTTP alone. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { freePort, waitFor } from '@fantail/test-kit'
import { end, start } from './children.ts'
import type { Contestant, Ends } from './contestants.ts'
import { ask } from './ipc.ts'
import { startBenchRedis } from './redis.ts'

interface Service {
  child: ChildProcess
  readyUrl: string
}

export async function startFantail({ receiverPort, publishers, profileDir }: Ends): Promise<Contestant> {
  const redis = await startBenchRedis()
  const port = await freePort()
  const shared = { ...settings(port), REDIS_URL: redis.url }
  const startOne = async (name: string, opsPort?: number): Promise<Service> => {
    const env = opsPort === undefined ? shared : { ...shared, FANTAIL_OPS_PORT: String(opsPort) }
    const words = [...profileWords(name, profileDir), '--conditions=@fantail/source']
    const child = start(process.execPath, [...words, join('services', name, 'src', 'main.ts')], env)
    return { child, readyUrl: `http://127.0.0.1:${opsPort ?? port}/readyz` }
  }
  const api = await startOne('publish-api')
  const worker = await startOne('delivery-worker', await freePort())
  const redrive = await startOne('redrive', await freePort())
  const services = [api, worker, redrive]
  await Promise.all(services.map(({ readyUrl }) => whenReady(readyUrl)))
  const pid = ({ child }: Service) => child.pid ?? 0
  const topics = new Set<string>()
  return {
    processes: { api: pid(api), worker: pid(worker), redrive: pid(redrive), redis: redis.pid },
    redisUrl: redis.url,
    load: async (paths, load) => {
      const topic = `fanout-${paths.length}`
      const urls = paths.map((path) => `http://127.0.0.1:${receiverPort}${path}`)
      if (!topics.has(topic)) await createTopic(port, topic, urls)
      topics.add(topic)
      return ask(publishers, 'load', { port, paths: [`/v1/topics/${topic}/messages`], ...load })
    },
    stop: async () => {
      await Promise.all(services.map(({ child }) => end(child)))
      await redis.stop()
    },
  }
}

/** Whatever the caller's own Fantail is set to stays out of it. */
function settings(port: number): NodeJS.ProcessEnv {
  const own = Object.keys(process.env).filter((name) => /^(FANTAIL|OTEL)_/.test(name))
  return {
    ...Object.fromEntries(own.map((name) => [name, undefined])),
    FANTAIL_MODE: 'local',
    FANTAIL_PORT: String(port),
    FANTAIL_LOG_LEVEL: 'warn',
  }
}

function profileWords(name: string, dir: string | undefined): string[] {
  return dir === undefined
    ? []
    : ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}.cpuprofile`]
}

async function whenReady(url: string): Promise<void> {
  const isReady = async () => {
    try {
      const answer = await fetch(url)
      await answer.arrayBuffer()
      return answer.ok
    } catch {
      return false // Not listening yet.
    }
  }
  await waitFor(isReady, { what: url, intervalMs: 50, timeoutMs: 30_000 })
}

async function createTopic(port: number, topic: string, endpoints: string[]): Promise<void> {
  const url = `http://127.0.0.1:${port}/v1/topics/${topic}`
  await call('PUT', url, {})
  for (const endpoint of endpoints) await call('POST', `${url}/subscriptions`, { endpoint })
}

async function call(method: string, url: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`)
}
