// @ts-check
/**
 * Gets Redis by package managers other than apt, or by Docker. Each function returns undefined if Redis is there, or
 * else the reason why not.
 */
import { capture, lastWords, onPath, say } from '../steps.mjs'

/** @typedef {NodeJS.ProcessEnv} Env */

/** The image that Docker runs if there is no server binary. */
const REDIS_IMAGE = 'redis:7.4-alpine'

/** @param {Env} env @returns {Promise<string | undefined>} */
export async function installByBrew(env) {
  const brew = onPath('brew', `${env.PATH}:/opt/homebrew/bin:/usr/local/bin`)
  if (!brew) return 'no brew here'
  say('installing Redis: brew install redis')
  return outcome(await capture(brew, ['install', 'redis'], { env: { ...env, HOMEBREW_NO_AUTO_UPDATE: '1' } }))
}

/**
 * Fedora and related systems have one of these packages.
 * @param {Env} env
 */
export async function installByDnf(env) {
  return installAsRoot(env, 'dnf', [
    ['install', '-y', 'valkey'],
    ['install', '-y', 'redis'],
    ['install', '-y', 'redis6'],
  ])
}

/** @param {Env} env */
export async function installByApk(env) {
  return installAsRoot(env, 'apk', [
    ['add', 'redis'],
    ['add', 'valkey'],
  ])
}

/**
 * @param {Env} env @param {string} manager @param {string[][]} tries
 * @returns {Promise<string | undefined>}
 */
async function installAsRoot(env, manager, tries) {
  const path = onPath(manager, env.PATH)
  if (!path) return `no ${manager} here`
  const prefix = await rootPrefix(env)
  if (!prefix) return `not root, and sudo asks for a password: run \`sudo ${manager} ${tries[0]?.join(' ')}\``
  let reason
  for (const args of tries) {
    const words = [...prefix, path, ...args]
    say(`installing Redis: ${words.join(' ')}`)
    reason = outcome(await capture(words[0] ?? path, words.slice(1), { env }))
    if (reason === undefined) return undefined
  }
  return reason
}

/**
 * @param {Env} env @returns {Promise<string[] | undefined>} the words before a command that make it run as root;
 * undefined: there is no way
 */
async function rootPrefix(env) {
  if (process.getuid?.() === 0) return []
  const sudo = onPath('sudo', env.PATH)
  if (!sudo) return undefined
  return (await capture(sudo, ['-n', 'true'], { env })).code === 0 ? [sudo, '-n'] : undefined
}

/** @param {Env} env @returns {Promise<string | { kind: 'docker', image: string }>} */
export async function dockerImage(env) {
  const docker = onPath('docker', env.PATH)
  if (!docker) return 'no docker here'
  const info = await capture(docker, ['info'], { env, timeoutMs: 10_000 })
  if (info.code !== 0) return 'no Docker daemon answers'
  const image = env.FANTAIL_REDIS_IMAGE || REDIS_IMAGE
  if ((await capture(docker, ['image', 'inspect', image], { env })).code === 0)
    return { kind: 'docker', image }
  say(`fetching Redis: docker pull ${image}`)
  return outcome(await capture(docker, ['pull', '-q', image], { env })) ?? { kind: 'docker', image }
}

/** @param {import('../steps.mjs').Finished} done */
function outcome(done) {
  return done.code === 0 ? undefined : lastWords(done)
}
