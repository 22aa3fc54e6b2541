// @ts-check
/**
 * Finds a Redis server: one on PATH, or else one that was unpacked earlier, or else by the first of the ways below that
 * works. A server is used only if it starts and is new enough.
 */
import { join } from 'node:path'
import { withLock } from '../lock.mjs'
import { privateDir } from '../paths.mjs'
import { capture, isExecutable, onPath, StepError, say } from '../steps.mjs'
import { unpackDebianRedis } from './debian-redis.mjs'
import { dockerImage, installByApk, installByBrew, installByDnf } from './package-managers.mjs'

/** @typedef {{ kind: 'binary', path: string, version: string } | { kind: 'docker', image: string }} RedisServer */

/**
 * A way to get a server: resolves with undefined once one can be found, else with the reason why not.
 * @typedef {{ name: string, get: (env: NodeJS.ProcessEnv) => Promise<string | RedisServer | undefined> }} Way
 */

const NAMES = ['redis-server', 'valkey-server']
const VERSION_MIN = [6, 2]
/** Folders of Homebrew. A login shell adds them to PATH, other shells do not. */
const MORE_PATH = '/opt/homebrew/bin:/usr/local/bin:/usr/bin:/usr/sbin'

const unpackedDir = join(privateDir, 'redis')

/** @type {Way[]} */
const WAYS = [
  {
    name: 'Debian or Ubuntu packages, unpacked under .fantail/redis',
    get: (env) => unpackDebianRedis(unpackedDir, env),
  },
  { name: 'brew install redis', get: installByBrew },
  { name: 'dnf install (as root, or by sudo without a password)', get: installByDnf },
  { name: 'apk add (as root, or by sudo without a password)', get: installByApk },
  { name: 'Docker', get: dockerImage },
]

/**
 * Finds a server, or gets one. Rejects with a StepError that names each way and why it failed.
 * @param {NodeJS.ProcessEnv} env
 * @param {Way[]} [ways]
 * @returns {Promise<RedisServer>}
 */
export async function provideRedisServer(env, ways = WAYS) {
  const found = (await findRedisServer(env)).server
  if (found) return found
  const onWait = () => say('another process is fetching Redis, waiting for it')
  return withLock(join(privateDir, 'fetch-redis.lock'), () => obtain(env, ways), { onWait })
}

/** @param {NodeJS.ProcessEnv} env @param {Way[]} ways @returns {Promise<RedisServer>} */
async function obtain(env, ways) {
  const before = await findRedisServer(env)
  if (before.server) return before.server
  const reasons = [`redis-server or valkey-server on PATH: ${before.reason}`]
  for (const way of ways) {
    const got = await way.get(env)
    if (typeof got === 'object') return got
    const after = got === undefined ? await findRedisServer(env) : { server: undefined, reason: got }
    if (after.server) return after.server
    reasons.push(`${way.name}: ${after.reason}`)
  }
  throw new StepError(
    `no Redis could be found or fetched. Any one of these is enough:\n` +
      `  - REDIS_URL set to a Redis or Valkey, ${VERSION_MIN.join('.')} or newer\n` +
      reasons.map((reason) => `  - ${reason}`).join('\n'),
  )
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ server?: RedisServer, reason: string }>}
 */
export async function findRedisServer(env) {
  let reason = 'none found'
  for (const path of candidates(env)) {
    const version = await versionOf(path, env)
    if (version === undefined) reason = `${path} does not start`
    else if (isTooOld(version)) reason = `${path} is ${version}, older than ${VERSION_MIN.join('.')}`
    else return { server: { kind: 'binary', path, version }, reason: '' }
  }
  return { reason }
}

/** @param {NodeJS.ProcessEnv} env */
function candidates(env) {
  const own = env.FANTAIL_REDIS_SERVER ? [env.FANTAIL_REDIS_SERVER] : []
  const path = NAMES.map((name) => onPath(name, env.PATH))
  const unpackedIn = env.FANTAIL_REDIS_UNPACKED || unpackedDir
  const unpacked = NAMES.map((name) => join(unpackedIn, 'bin', name)).filter(isExecutable)
  const more = process.platform === 'darwin' ? NAMES.map((name) => onPath(name, MORE_PATH)) : []
  return [...own, ...path, ...unpacked, ...more].filter((file) => file !== undefined)
}

/** @param {string} path @param {NodeJS.ProcessEnv} env */
async function versionOf(path, env) {
  const { code, stdout } = await capture(path, ['--version'], { env, timeoutMs: 10_000 })
  return code === 0 ? /\bv=(\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined
}

/** @param {string} version */
export function isTooOld(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [majorMin = 0, minorMin = 0] = VERSION_MIN
  return major < majorMin || (major === majorMin && minor < minorMin)
}
