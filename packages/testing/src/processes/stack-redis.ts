/**
 * The Redis of a stack: a new server on a free loopback port, with a password that nobody else knows. If there is no
 * binary, a server that the caller or the settings name.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { waitUntil } from '../waiting/wait-until.ts'
import { ChildOutput } from './child-output.ts'
import type { Guard } from './process-guard.ts'
import { askServer } from './redis-session.ts'
import { type StackRedis, takeDatabase } from './shared-redis.ts'

interface Place {
  guard: Guard
  /** A temporary folder of the stack. */
  folder: string
  timeoutMs: number
  /** Whether a new server keeps its data in the folder. Default: it keeps nothing. */
  isKept?: boolean
}

/** Every write is on disk before it is acknowledged. */
const KEPT = { appendonly: 'yes', appendfsync: 'always' }
const FORGOTTEN = { appendonly: 'no' }

/** Linux uses higher ports for outgoing connections. */
const FIRST_PORT = 20_000
const AFTER_LAST_PORT = 32_000
/** Ports that a test stack tries for its Redis. Past it: the start fails. */
const TEST_PORTS_MAX = 10
const REDIS_LINES_SHOWN = 20
const REDIS_POLL_MS = 5
const NAMES = ['redis-server', 'valkey-server']

/** `given`: the URL of a Redis, or the path of a server. `server`: the folder of the services. */
export async function startStackRedis(
  given: string | undefined,
  server: string,
  place: Place,
  env: NodeJS.ProcessEnv = process.env,
): Promise<StackRedis> {
  if (given?.includes('://')) return takeDatabase(given)
  const binary = given ?? findBinary(server, env)
  if (binary !== undefined) return spawnServer(binary, place)
  const named = env.REDIS_URL?.trim()
  if (named) return takeDatabase(named)
  throw new Error(
    'a stack needs a Redis: redis-server or valkey-server on PATH, FANTAIL_REDIS_SERVER, REDIS_URL, or the option redis',
  )
}

/** The binary of a redis-server. `npm start` in a checkout unpacks the last one in this list. */
function findBinary(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const own = env.FANTAIL_REDIS_SERVER?.trim()
  if (own) return own
  const folders = [
    ...(env.PATH ?? '').split(delimiter).filter(Boolean),
    join(server, '.fantail', 'redis', 'bin'),
  ]
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false // There is no such file, or it cannot be run.
  }
}

/** Another program may take the port first. Then the next port is tried. */
async function spawnServer(binary: string, place: Place): Promise<StackRedis> {
  for (let tries = 1; ; tries++) {
    try {
      return await spawnAt(binary, randomInt(FIRST_PORT, AFTER_LAST_PORT), place)
    } catch (error) {
      if (tries === TEST_PORTS_MAX || !/address already in use/i.test(String(error))) throw error
    }
  }
}

async function spawnAt(
  binary: string,
  port: number,
  { guard, folder, timeoutMs, isKept = false }: Place,
): Promise<StackRedis> {
  const password = randomBytes(16).toString('hex')
  const words = { port, bind: '127.0.0.1', dir: folder, save: '', requirepass: password }
  const policy = { 'maxmemory-policy': 'noeviction', ...(isKept ? KEPT : FORGOTTEN) }
  const args = Object.entries({ ...words, ...policy }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ])
  const output = new ChildOutput(guard.spawn(binary, args))
  const url = new URL(`redis://:${password}@127.0.0.1:${port}`)
  const logText = () => output.text(REDIS_LINES_SHOWN)
  const stop = () => output.stop(isKept ? 'SIGTERM' : 'SIGKILL', timeoutMs)
  const answers = async () => {
    const { end } = output
    if (end !== undefined) throw new Error(`${binary} did not start: ${end}\n${logText()}`)
    // Only this server knows the password.
    return askServer(url, [['PING']]).then(
      ([reply]) => reply === 'PONG',
      () => false,
    )
  }
  const explain = async () => logText()
  try {
    await waitUntil(answers, { what: `${binary} to answer`, timeoutMs, intervalMs: REDIS_POLL_MS, explain })
  } catch (error) {
    await stop()
    throw error
  }
  return { url: url.href, logText, stop }
}
