/**
 * Runs Fantail as its users do: with its own Redis, and with each service as a process. A service is started when a
 * scenario needs it.
 */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { freePort, waitFor } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { type BenchRedis, startBenchRedis } from './bench-redis.ts'
import { end, start } from './children.ts'

export const SERVICES = ['publish-api', 'delivery-worker', 'redrive'] as const
export type ServiceName = (typeof SERVICES)[number]

export interface Service {
  pid: number
  /** Time from its start until it was ready. */
  readyMs: number
  stop(): Promise<void>
}

export interface Deployment {
  server: BenchRedis
  /** A connection to it. */
  redis: Redis
  apiPort: number
  /** Resolves when the service is ready. `redisUrl` is needed only if it is not the server's own address. */
  startService(name: ServiceName, options?: { redisUrl?: string }): Promise<Service>
  /** Asks the API; throws if it refuses. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Ends everything. */
  stop(): Promise<void>
}

interface DeploymentOptions {
  profileDir?: string | undefined
  /** Further settings of every service. */
  env?: NodeJS.ProcessEnv
  /** Folder of the tree whose services are started; default: this one. */
  tree?: string | undefined
}

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const server = await startBenchRedis()
  const apiPort = await freePort()
  const origin = `http://127.0.0.1:${apiPort}`
  const services = new Set<ChildProcess>()
  return {
    server,
    redis: server.client,
    apiPort,
    startService: async (name, { redisUrl = server.url } = {}) => {
      const port = name === 'publish-api' ? apiPort : await freePort()
      const env = { ...settings(apiPort), ...options.env, REDIS_URL: redisUrl }
      const own = name === 'publish-api' ? {} : { FANTAIL_OPS_PORT: String(port) }
      const startedAt = performance.now()
      const child = start(process.execPath, words(name, options.profileDir), { ...env, ...own }, options.tree)
      services.add(child)
      await whenReady(`http://127.0.0.1:${port}/readyz`)
      const readyMs = performance.now() - startedAt
      const stop = async () => {
        services.delete(child)
        await end(child)
      }
      return { pid: child.pid ?? 0, readyMs, stop }
    },
    call: (method, path, body) => call(method, origin + path, body),
    stop: async () => {
      await Promise.all([...services].map(end))
      await server.stop()
    },
  }
}

/** The settings of the caller's own Fantail are removed. */
function settings(port: number): NodeJS.ProcessEnv {
  const own = Object.keys(process.env).filter((name) => /^(FANTAIL|OTEL)_/.test(name))
  return {
    ...Object.fromEntries(own.map((name) => [name, undefined])),
    FANTAIL_MODE: 'local',
    FANTAIL_PORT: String(port),
    FANTAIL_LOG_LEVEL: 'error',
  }
}

function words(name: ServiceName, profileDir: string | undefined): string[] {
  const file = join('services', name, 'src', 'main.ts')
  const profile = profileDir
    ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}.cpuprofile`]
    : []
  return [...profile, '--conditions=@fantail/source', file]
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
  await waitFor(isReady, { what: url, intervalMs: 5, timeoutMs: 60_000 })
}

async function call<T>(method: string, url: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const text = body === undefined ? {} : { body: JSON.stringify(body), headers }
  const answer = await fetch(url, { method, ...text })
  const answered = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${answered}`)
  return (answered === '' ? undefined : JSON.parse(answered)) as T
}
