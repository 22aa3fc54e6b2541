/**
 * Starts a private stack: Redis, the API, a worker and the redrive service, on free loopback ports and in a temporary
 * folder. If this process is killed, a guard ends the processes and removes the folder.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { FantailStack } from './fantail-stack.ts'
import { Guard } from './processes/process-guard.ts'
import { findServer, type ServerFiles, type ServiceName } from './processes/server-files.ts'
import { ServiceChild } from './processes/service-child.ts'
import type { StackRedis } from './processes/shared-redis.ts'
import { startStackRedis } from './processes/stack-redis.ts'
import { PublishedMessages } from './waiting/published-messages.ts'

export interface FantailStackOptions {
  /** Path of a redis-server, or the URL of a Redis with an empty database. Default: see the README. */
  redis?: string | undefined
  /** Folder of a checkout of Fantail, or of built services. Default: the services that come with this package. */
  server?: string | undefined
  /** Further settings of the services, such as `FANTAIL_ATTEMPT_TIMEOUT_MS`. */
  env?: Record<string, string> | undefined
  /** Share by which retry delays vary, 0 to 1. Default: 0, so that retries come exactly when the policy says. */
  retryJitter?: number | undefined
  /** The longest time that waits of tests last. Default: 4,000. */
  timeoutMs?: number | undefined
  /** How long the start may take. Default: 30,000. */
  startTimeoutMs?: number | undefined
}

const SERVICES: readonly ServiceName[] = ['publish-api', 'delivery-worker', 'redrive']
const STACK_START_MS = 30_000
/** Settings that the stack sets itself. */
const OWN =
  /^(REDIS_.*|NODE_COMPILE_CACHE|FANTAIL_(MODE|TIME_TRAVEL|HOST|PORT|OPS_PORT|DATA_DIR|LOG_LEVEL|LOG_MESSAGES|QUEUES|AUTH|TLS_.*))$/

/** Resolves when every service is ready. Rejects with the end of the logs. */
export async function startFantail(options: FantailStackOptions = {}): Promise<FantailStack> {
  const { env = {}, retryJitter = 0, timeoutMs, startTimeoutMs = STACK_START_MS } = options
  refuseOwnSettings(env)
  const server = findServer(options.server)
  const folder = await mkdtemp(join(tmpdir(), 'fantail-testing-'))
  const guard = new Guard({ graceMs: 0 })
  guard.removeAtEnd(folder)
  const messages = new PublishedMessages()
  const services: ServiceChild[] = []
  let redis: StackRedis | undefined
  const stop = async () => {
    await Promise.all(services.map((service) => service.stop()))
    await redis?.stop()
    await rm(folder, { recursive: true, force: true })
    await guard.end()
  }
  try {
    redis = await startStackRedis(options.redis, server.folder, { guard, folder, timeoutMs: startTimeoutMs })
    const own = { ...settingsOf(server, folder, redis.url), FANTAIL_RETRY_JITTER: String(retryJitter) }
    const settings = { ...own, ...env }
    for (const name of SERVICES) {
      const child = guard.spawn(process.execPath, server.wordsOf(name), { cwd: folder, env: settings })
      services.push(new ServiceChild(name, child, (line) => messages.readLine(line)))
    }
    await Promise.all(services.map((service) => service.untilReady(startTimeoutMs)))
    const [api] = services
    const logText = () => [redis?.logText(), ...services.map((service) => service.logText())].join('\n')
    const problems = () => services.flatMap(({ problem }) => problem ?? [])
    const url = api?.url ?? ''
    return new FantailStack({ url, redisUrl: redis.url, messages, timeoutMs, problems, logText, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

function refuseOwnSettings(env: Record<string, string>): void {
  const wrong = Object.keys(env).filter((name) => OWN.test(name))
  if (wrong.length > 0) throw new TypeError(`env: startFantail sets ${wrong.join(', ')} itself`)
}

/** The settings of the services. The caller's environment does not reach them. */
function settingsOf(server: ServerFiles, folder: string, redisUrl: string): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    NODE_COMPILE_CACHE: compiledCode(),
    ...server.settings,
    REDIS_URL: redisUrl,
    FANTAIL_MODE: 'local',
    FANTAIL_TIME_TRAVEL: 'on',
    FANTAIL_PORT: '0',
    FANTAIL_OPS_PORT: '0',
    FANTAIL_DATA_DIR: folder,
    FANTAIL_LOG_LEVEL: 'info',
  }
}

/**
 * Keeps compiled code, so that the next start takes half the time. The folder belongs to the user, as for the command
 * line.
 */
function compiledCode(env: NodeJS.ProcessEnv = process.env): string {
  return env.NODE_COMPILE_CACHE ?? join(env.XDG_CACHE_HOME?.trim() || join(homedir(), '.cache'), 'fantail')
}
