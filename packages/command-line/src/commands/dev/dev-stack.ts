/**
 * The processes of `fantail dev`. They end with this process, even if it is killed. If one of them ends by itself, the
 * stack has failed and the others are stopped.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  findServer,
  Guard,
  ServiceChild,
  type ServiceName,
  type StackRedis,
} from '@fantail/testing/processes'
import { CommandError } from '../../output/exit-codes.ts'
import { openDataFolder } from './data-folder.ts'
import { startDevRedis } from './dev-redis.ts'
import { refuseTakenPorts } from './taken-ports.ts'

const SERVICES = { api: 'publish-api', worker: 'delivery-worker', redrive: 'redrive' } as const
/** Time that `fantail dev` waits for a service to be ready. Past it: the command fails. */
const DEV_START_MS_MAX = 60_000
/** How long processes may take to end after this one was killed. */
const DEV_GRACE_MS = 5_000
const CONSOLE_ANSWER_MS = 5_000
/** The repository, or the folder of the built services. */
const SERVER = fileURLToPath(new URL('../../../../../', import.meta.url))

export interface DevAddresses {
  /** Origin of the API. */
  url: string
  /** null: the console is not built here. */
  consoleUrl: string | null
  services: Record<keyof typeof SERVICES, string>
  /** null: settings name a cluster or Sentinels. */
  redisUrl: string | null
  /** null: nothing is kept. */
  dataDir: string | null
}

interface DevOptions {
  /** The API's. 0: free ports. */
  port: number
  /** undefined: nothing is kept. */
  dataDir: string | undefined
  env: NodeJS.ProcessEnv
  onLine(service: string, line: string): void
}

export class DevStack {
  readonly #options: DevOptions
  readonly #guard = new Guard({ graceMs: DEV_GRACE_MS })
  readonly #services: ServiceChild[] = []
  readonly #failed = Promise.withResolvers<never>()
  /** Steps of `stop` after the services have ended, the last one first. */
  readonly #undo: (() => Promise<unknown>)[] = []
  #isStopping = false

  constructor(options: DevOptions) {
    this.#options = options
    // The promise may reject before somebody waits for it.
    this.#failed.promise.catch(() => undefined)
  }

  /** Rejects as soon as a process has ended by itself. */
  failure(): Promise<never> {
    return this.#failed.promise
  }

  async start(signal: AbortSignal): Promise<DevAddresses> {
    const { port, dataDir, env } = this.#options
    if (port !== 0) await refuseTakenPorts([port, port + 1, port + 2], hostOf(env))
    const folder = dataDir === undefined ? await this.#temporaryFolder() : await this.#dataFolder(dataDir)
    const redis = await startDevRedis({
      guard: this.#guard,
      folder,
      server: SERVER,
      timeoutMs: DEV_START_MS_MAX,
      isKept: dataDir !== undefined,
      env,
    })
    if (redis) this.#undo.push(() => redis.stop())
    signal.throwIfAborted()
    return { ...(await this.#startServices({ redis, folder, signal })), dataDir: dataDir ?? null }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#services.map((service) => service.stop()))
    for (const undo of this.#undo.toReversed()) await undo()
    await this.#guard.end()
  }

  async #temporaryFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'fantail-dev-'))
    this.#guard.removeAtEnd(folder)
    this.#undo.push(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  async #dataFolder(folder: string): Promise<string> {
    const close = await openDataFolder(folder)
    this.#undo.push(close)
    return folder
  }

  async #startServices({ redis, folder, signal }: Started): Promise<Omit<DevAddresses, 'dataDir'>> {
    const { env, port } = this.#options
    const { settings, wordsOf } = findServer(SERVER)
    const common = { ...settingsOf(env, folder), ...(redis && { REDIS_URL: redis.url }) }
    const services = Object.values(SERVICES).map((name, index) => {
      const own = { FANTAIL_PORT: portText(port, 0), FANTAIL_OPS_PORT: portText(port, index) }
      return this.#run(name, wordsOf(name), { ...settings, ...CONSOLE, ...common, ...own })
    })
    const ready = Promise.all(services.map((service) => service.untilReady(DEV_START_MS_MAX)))
    await Promise.race([ready, this.failure(), aborted(signal)])
    const [api = '', worker = '', redrive = ''] = services.map(({ url }) => url)
    return {
      url: api,
      consoleUrl: await consoleOf(api),
      services: { api, worker, redrive },
      redisUrl: redis?.url ?? env.REDIS_URL?.trim() ?? null,
    }
  }

  #run(name: ServiceName, words: string[], env: NodeJS.ProcessEnv): ServiceChild {
    const child = this.#guard.spawn(process.execPath, words, { env })
    const service = new ServiceChild(name, child, (line) => this.#options.onLine(name, line))
    this.#services.push(service)
    this.#watch(service, child)
    return service
  }

  #watch(service: ServiceChild, child: ChildProcess): void {
    // 'close' comes after all output was read.
    child.once('close', () => {
      if (this.#isStopping) return
      // The problem ends with the last lines of the log. Lines that matter were shown already, so they are left out
      // here.
      const [what = service.name] = service.problem?.split('\n') ?? []
      this.#failed.reject(new CommandError('failed', what, 'The lines of the log above say why.'))
    })
  }
}

interface Started {
  redis: StackRedis | undefined
  folder: string
  signal: AbortSignal
}

/** The built services of `@fantail/testing` have no console; those of `fantail` have one. */
const CONSOLE = { FANTAIL_CONSOLE: 'on' }

/** Settings of the environment reach the services, except those that the stack itself sets. */
function settingsOf(env: NodeJS.ProcessEnv, folder: string): NodeJS.ProcessEnv {
  return {
    ...env,
    NODE_COMPILE_CACHE:
      env.NODE_COMPILE_CACHE ?? join(env.XDG_CACHE_HOME?.trim() || join(homedir(), '.cache'), 'fantail'),
    FANTAIL_MODE: 'local',
    FANTAIL_HOST: hostOf(env),
    FANTAIL_DATA_DIR: folder,
    // Their ports are read from their logs.
    FANTAIL_LOG_LEVEL: env.FANTAIL_LOG_LEVEL === 'debug' ? 'debug' : 'info',
  }
}

function hostOf({ FANTAIL_HOST: host }: NodeJS.ProcessEnv): string {
  return host?.trim() || '127.0.0.1'
}

function portText(first: number, index: number): string {
  return first === 0 ? '0' : String(first + index)
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function consoleOf(url: string): Promise<string | null> {
  const answer = await fetch(`${url}/console/`, { signal: AbortSignal.timeout(CONSOLE_ANSWER_MS) })
  await answer.arrayBuffer()
  return answer.ok ? `${url}/console/` : null
}
