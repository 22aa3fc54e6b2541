// @ts-check
/**
 * Prometheus and its tools to check configurations, for tests. They are the programs on PATH, or else unpacked packages
 * of Debian.
 */
import { join } from 'node:path'
import { withLock } from '../lock.mjs'
import { privateDir } from '../paths.mjs'
import { isExecutable, onPath, StepError, say } from '../steps.mjs'
import { unpackDebianPackages } from './debian-packages.mjs'

/** @typedef {{ prometheus: string, promtool: string, amtool: string }} PrometheusTools */

const COMMANDS = ['prometheus', 'promtool', 'amtool']
const dir = join(privateDir, 'prometheus')

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<PrometheusTools | string>} the paths, or why there are none
 */
export async function providePrometheusTools(env) {
  const found = find(env)
  if (found) return found
  const missing = ['apt-get', 'dpkg'].filter((name) => !onPath(name, env.PATH))
  if (missing.length > 0) return `no prometheus on PATH and no ${missing.join(', no ')} to fetch it with`
  try {
    await withLock(join(privateDir, 'fetch-prometheus.lock'), () => fetchTools(env))
  } catch (error) {
    if (error instanceof StepError) return error.message
    throw error
  }
  return find(env) ?? 'the packages hold no Prometheus'
}

/** @param {NodeJS.ProcessEnv} env */
async function fetchTools(env) {
  if (find(env)) return
  say(`fetching Prometheus by apt-get, to unpack under ${dir} (nothing is installed)`)
  const packages = ['prometheus', 'prometheus-alertmanager']
  await unpackDebianPackages({ packages, commands: COMMANDS, dir, alone: true, env })
}

/** @param {NodeJS.ProcessEnv} env @returns {PrometheusTools | undefined} */
function find(env) {
  const [prometheus, promtool, amtool] = COMMANDS.map((name) => {
    const unpacked = join(dir, 'bin', name)
    return onPath(name, env.PATH) ?? (isExecutable(unpacked) ? unpacked : undefined)
  })
  return prometheus && promtool && amtool ? { prometheus, promtool, amtool } : undefined
}
