/**
 * All services of Fantail as processes, with a Redis of their own, for one test file. They end with the file. If a test
 * fails, it prints the logs of the services and of Redis, the latest messages' timelines and the lanes' figures.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Redis, whenReady } from '@fantail/store'
import { canSpawnRedis, connectPatiently, type TestRedis, type TestRedisOptions } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../redis/tcp-proxy.ts'
import { failureReport } from '../runs/failure-report.ts'
import { type PlaceKind, type RedisPlace, startPlace } from './redis-place.ts'
import { RestClient } from './rest-client.ts'
import { ROOT, type ServiceName, ServiceProcess } from './service-process.ts'

interface StackOptions {
  /** Delivery workers; default 1. */
  workers?: number
  /** Whether the redrive service runs; default false. */
  redrive?: boolean
  redis?: TestRedisOptions
  /** Default: one Redis. A given place that runs already is stopped with the stack. */
  place?: PlaceKind | RedisPlace
  /** Settings of every service. */
  env?: Record<string, string>
  /** Further settings for a single worker. */
  workerEnv?: (index: number) => Record<string, string>
  /** Services start from their sources, as users start them. Default: from the bundle, which takes less CPU. */
  fromSource?: boolean
  /** One service, or all, connect to Redis through a proxy, which can cut traffic at a chosen command. */
  proxied?: ServiceName | 'all'
}

export interface Stack {
  place: RedisPlace
  /** The only server, or the first master. */
  redis: TestRedis
  /** A connection for the test itself. With a single server, its commands wait while the server is away. */
  connection: Redis
  api: ServiceProcess
  workers: ServiceProcess[]
  redrive: ServiceProcess | undefined
  client: RestClient
  /** The proxy of the services that are `proxied`. */
  proxy: TcpProxy
  services(): ServiceProcess[]
  worker(index: number): ServiceProcess
  logText(): string
  stop(): Promise<void>
}

/** Resolves when every service is ready. */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const given = options.place
  const place = typeof given === 'object' ? given : await startPlace(given, options.redis)
  const { redis } = place
  const dataDir = await mkdtemp(join(tmpdir(), 'fantail-data-'))
  const { target } = place
  const connection =
    typeof target === 'string' ? connectPatiently(target) : connect({ url: target, name: 'test' })
  const proxy = await startTcpProxy(redis.port)
  const create = (name: ServiceName, label: string, own: Record<string, string> = {}) => {
    const isProxied = options.proxied === 'all' || options.proxied === name
    const env = isProxied ? { REDIS_URL: `redis://127.0.0.1:${proxy.port}` } : place.env
    const all = { ...settings(dataDir), ...env, ...options.env, ...own }
    return new ServiceProcess(name, label, all, options.fromSource ? ROOT : undefined)
  }
  const api = create('publish-api', 'api')
  const workers = Array.from({ length: options.workers ?? 1 }, (_, i) =>
    create('delivery-worker', `worker-${i}`, options.workerEnv?.(i)),
  )
  const redrive = options.redrive ? create('redrive', 'redrive') : undefined
  const client = new RestClient(() => api.url)
  const services = () => [api, ...workers, ...(redrive ? [redrive] : [])]
  const stack: Stack = {
    place,
    redis,
    connection,
    api,
    workers,
    redrive,
    client,
    proxy,
    services,
    worker: (index) => {
      const worker = workers[index]
      if (!worker) throw new RangeError(`no worker ${index}`)
      return worker
    },
    logText: () =>
      services()
        .map((service) => service.logText())
        .join('\n'),
    async stop() {
      await client.close()
      connection.disconnect()
      await Promise.all(services().map((service) => service.stop()))
      await proxy.close()
      await place.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  try {
    await whenReady(connection)
    await Promise.all(services().map((service) => service.start()))
  } catch (error) {
    await stack.stop()
    throw error
  }
  return stack
}

function settings(dataDir: string): Record<string, string> {
  return {
    FANTAIL_MODE: 'local',
    FANTAIL_PORT: '0',
    FANTAIL_OPS_PORT: '0',
    FANTAIL_DATA_DIR: dataDir,
    FANTAIL_LOG_LEVEL: 'info',
  }
}

const LOG_CHARS_SHOWN = 20_000

/** A stack for the tests of a file (or of a `describe`): started before the first test, stopped after the last. */
export function useStack(options: StackOptions = {}): () => Stack {
  let stack: Stack | undefined
  const current = () => {
    if (!stack) throw new Error('the stack runs in tests and hooks only')
    return stack
  }
  beforeAll(async () => {
    // Hooks also run if all tests are skipped.
    if (options.place !== undefined && options.place !== 'single' && !canSpawnRedis()) return
    stack = await startStack(options)
  }, 120_000)
  beforeEach(({ onTestFailed }) => {
    onTestFailed(async () => {
      const { api, logText, place } = current()
      const logs = [logText().slice(-LOG_CHARS_SHOWN), await place.logText()]
      console.error([...logs, await failureReport(api)].join('\n'))
    })
  })
  afterAll(() => stack?.stop(), 60_000)
  return current
}
