/** Fantail as its users run it: all services as processes from their own entries, driven over HTTP alone. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { freePort, waitFor } from '@fantail/test-kit'
import { Pool } from 'undici'
import { end, start } from './children.ts'
import type { Contestant, Ends } from './contestants.ts'
import { ask } from './ipc.ts'
import { type BenchRedis, startBenchRedis } from './redis.ts'

export interface FantailOptions extends Ends {
  /** Further settings of every service. */
  env?: NodeJS.ProcessEnv
  /** What its topics and subscriptions are made with, beside their endpoints. */
  topic?: object
  subscription?: object
  /** Those that run; all, unless told. */
  services?: ServiceName[]
}

const SERVICES = ['publish-api', 'delivery-worker', 'redrive'] as const
type ServiceName = (typeof SERVICES)[number]
const ROLES = { 'publish-api': 'api', 'delivery-worker': 'worker', redrive: 'redrive' } as const

export interface Fantail extends Contestant {
  /** Of the API. */
  port: number
  redis: BenchRedis
  createTopic(topic: string, endpoints?: string[]): Promise<void>
}

const SUBSCRIBERS_AT_ONCE = 32

interface Service {
  name: ServiceName
  child: ChildProcess
  readyUrl: string
}

export async function startFantail(options: FantailOptions): Promise<Fantail> {
  const { receiverPort, publishers, profileDir } = options
  const redis = await startBenchRedis()
  const port = await freePort()
  const shared = { ...settings(port), ...options.env, REDIS_URL: redis.url }
  const startOne = async (name: ServiceName): Promise<Service> => {
    const opsPort = name === 'publish-api' ? port : await freePort()
    const env = name === 'publish-api' ? shared : { ...shared, FANTAIL_OPS_PORT: String(opsPort) }
    const words = [...profileWords(name, profileDir), '--conditions=@fantail/source']
    const child = start(process.execPath, [...words, join('services', name, 'src', 'main.ts')], env)
    return { name, child, readyUrl: `http://127.0.0.1:${opsPort}/readyz` }
  }
  const services = await Promise.all((options.services ?? SERVICES).map(startOne))
  await Promise.all(services.map(({ readyUrl }) => whenReady(readyUrl)))
  const topics = new Set<string>()
  const newTopic = async (topic: string, endpoints: string[] = []) => {
    if (!topics.has(topic)) await createTopic(port, topic, endpoints, options)
    topics.add(topic)
  }
  return {
    processes: Object.fromEntries(services.map(({ name, child }) => [ROLES[name], child.pid ?? 0])),
    redis,
    port,
    createTopic: newTopic,
    load: async (paths, load) => {
      const topic = `fanout-${paths.length}`
      await newTopic(
        topic,
        paths.map((path) => `http://127.0.0.1:${receiverPort}${path}`),
      )
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

async function createTopic(
  port: number,
  topic: string,
  endpoints: string[],
  settings: Pick<FantailOptions, 'topic' | 'subscription'>,
): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: SUBSCRIBERS_AT_ONCE })
  const path = `/v1/topics/${topic}`
  await call(pool, { method: 'PUT', path, body: settings.topic ?? {} })
  let next = 0
  const subscribe = async () => {
    for (let endpoint = endpoints[next++]; endpoint !== undefined; endpoint = endpoints[next++]) {
      const body = { ...settings.subscription, endpoint }
      await call(pool, { method: 'POST', path: `${path}/subscriptions`, body })
    }
  }
  await Promise.all(Array.from({ length: SUBSCRIBERS_AT_ONCE }, subscribe))
  await pool.close()
}

interface Request {
  method: 'PUT' | 'POST'
  path: string
  body: object
}

async function call(pool: Pool, { method, path, body }: Request): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await pool.request({ method, path, headers, body: JSON.stringify(body) })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
}
