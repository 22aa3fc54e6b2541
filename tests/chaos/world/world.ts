/**
 * All processes of a run: Redis, two APIs, three workers, the redrive service, the receiver of all webhooks, and the
 * providers of all other kinds.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { actAsBucket, type Receiver, redisServerPath, startReceiver } from '@fantail/test-kit'
import { moveRedisTime } from '../../harness/redis/redis-time.ts'
import { createFalseClock, type FalseClock, falseClockProblem } from '../../harness/services/false-clock.ts'
import { RestClient } from '../../harness/services/rest-client.ts'
import { type ServiceName, ServiceProcess } from '../../harness/services/service-process.ts'
import { PROCESSES, type ProcessLabel } from '../plan/fault-plan.ts'
import { type Providers, startProviders } from '../providers/providers.ts'
import { type PairOptions, RedisPair } from './redis-pair.ts'
import type { RunFolder } from './run-folder.ts'
import { Supervisor } from './supervisor.ts'

export const ATTEMPT_TIMEOUT_MS = 2_000
const PRELOADED = ['./send-record.ts', './name-servers.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

export interface World {
  redis: RedisPair
  receiver: Receiver
  providers: Providers
  /** The place of archives. */
  bucket: Bucket
  supervisor: Supervisor
  services: ServiceProcess[]
  /** A client of each API. */
  clients: [RestClient, RestClient]
  /** Whether the API's process is running. */
  isUp(api: 0 | 1): boolean
  /** Those that can be set here. */
  clocks: Clocks
  stop(): Promise<void>
}

interface Bucket {
  objects: ReadonlyMap<string, Buffer>
  /** It answers 503. */
  isAway: boolean
}

interface Clocks {
  'worker-0'?: Clock
  redis: Clock
}

interface Clock {
  /** Sets how far the clock is off from now on. */
  set(seconds: number): void | Promise<void>
}

/** These processes have an address of Redis of their own. */
const ASIDE: readonly ProcessLabel[] = ['api-1', 'worker-1']

export interface WorldOptions extends Omit<PairOptions, 'env'> {
  /** Settings of all services. */
  env?: Record<string, string>
}

export async function startWorld({ env = {}, ...pair }: WorldOptions, folder: RunFolder): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'fantail-chaos-data-'))
  const workerClock = falseClock(process.execPath, 'chaos-worker')
  const redisClock = falseClock(redisServerPath(), 'chaos-redis')
  const redis = await RedisPair.start({ ...pair, env: redisClock?.env ?? {} })
  const receiver = await startReceiver()
  const providers = await startProviders()
  const place = await startReceiver()
  const bucket: Bucket = { objects: actAsBucket(place, () => bucket.isAway), isAway: false }
  const settings = {
    FANTAIL_MODE: 'local',
    FANTAIL_PORT: '0',
    FANTAIL_OPS_PORT: '0',
    FANTAIL_DATA_DIR: dataDir,
    FANTAIL_ARCHIVE: `s3+http://chaos:secret@127.0.0.1:${place.port}/archive`,
    FANTAIL_ATTEMPT_TIMEOUT_MS: String(ATTEMPT_TIMEOUT_MS),
    FANTAIL_MIN_REPLICAS: pair.replicated ? '1' : '0',
    ...providers.env,
    ...env,
  }
  const services = PROCESSES.map((label) => {
    const own = label.startsWith('worker') ? workerSettings(label, folder) : {}
    const clock = label === 'worker-0' ? workerClock?.env : undefined
    const { port } = ASIDE.includes(label) ? redis.aside : redis.address
    const place = { REDIS_URL: `redis://127.0.0.1:${port}` }
    const service = new ServiceProcess(nameOf(label), label, { ...settings, ...place, ...own, ...clock })
    folder.keepLog(service)
    return service
  })
  const supervisor = new Supervisor(services, folder)
  const [first, second] = services as [ServiceProcess, ServiceProcess]
  const clients: World['clients'] = [new RestClient(() => first.url), new RestClient(() => second.url)]
  const world: World = {
    redis,
    receiver,
    providers,
    bucket,
    supervisor,
    services,
    clients,
    isUp: (api) => (api === 0 ? first : second).isListening,
    clocks: { ...(workerClock && { 'worker-0': workerClock }), redis: redisClock ?? createSkew(redis) },
    async stop() {
      await Promise.all(clients.map((client) => client.close()))
      await supervisor.stop()
      await receiver.close()
      await place.close()
      await providers.stop()
      await redis.stop()
      for (const clock of [workerClock, redisClock]) clock?.remove()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  try {
    await supervisor.startAll()
  } catch (error) {
    await world.stop()
    throw error
  }
  return world
}

function falseClock(command: string, name: string): FalseClock | undefined {
  return falseClockProblem(command) === undefined ? createFalseClock(name) : undefined
}

/** Without libfaketime, only the time that scripts read can be moved, and only forward. */
function createSkew(redis: RedisPair): Clock {
  let skew = 0
  return {
    async set(seconds) {
      if (seconds <= skew) return
      const bySeconds = seconds - skew
      skew = seconds
      await redis.ask((connection) => moveRedisTime(connection, bySeconds * 1_000))
    },
  }
}

function workerSettings(label: ProcessLabel, folder: RunFolder): Record<string, string> {
  return {
    NODE_OPTIONS: PRELOADED.map((path) => `--import=${path}`).join(' '),
    CHAOS_SENDS: join(folder.sends, label),
  }
}

function nameOf(label: ProcessLabel): ServiceName {
  if (label.startsWith('api')) return 'publish-api'
  return label === 'redrive' ? 'redrive' : 'delivery-worker'
}
