// @ts-check
/** Redis from the packages of Debian or Ubuntu, without installing them. */

import { onPath, StepError, say } from '../steps.mjs'
import { unpackDebianPackages } from './debian-packages.mjs'

/** Each of these lists is enough. Newer releases have both packages, older ones only the first. */
const CHOICES = [
  { packages: ['redis-server', 'redis-tools'], commands: ['redis-server', 'redis-cli'] },
  { packages: ['valkey-server', 'valkey-tools'], commands: ['valkey-server', 'valkey-cli'] },
]

/**
 * Unpacks a server and its client into `dir`, with `dir/bin/<command>` to start them.
 * @param {string} dir
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} why it failed; undefined: it is unpacked
 */
export async function unpackDebianRedis(dir, env) {
  const missing = ['apt-get', 'dpkg'].filter((name) => !onPath(name, env.PATH))
  if (missing.length > 0) return `no ${missing.join(', no ')} here`
  const reasons = []
  for (const choice of CHOICES) {
    say(`fetching ${choice.packages.join(' and ')} by apt-get, to unpack under ${dir} (nothing is installed)`)
    try {
      await unpackDebianPackages({ ...choice, dir, env })
      return undefined
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      reasons.push(`${choice.packages[0]}: ${error.message}`)
    }
  }
  return reasons.join('\n    ')
}
