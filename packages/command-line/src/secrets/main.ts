/** The process of `fantail secrets reseal`, the last step of a change of the master key (docs/security.md). */
import { readApiSettings } from '@fantail/config'
import { printable, printableLines } from '@fantail/policy'
import { openVault } from '@fantail/runtime'
import {
  ApiKeys,
  Consumers,
  PlatformApplications,
  refuseMissingKey,
  SigningKeys,
  Subscriptions,
  VaultKeys,
} from '@fantail/store'
import { withRedis } from '../frame/cli-redis.ts'
import { help, isHelp } from '../output/output.ts'
import { resealAll } from './reseal.ts'

const USAGE = 'usage: fantail secrets reseal'

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(printableLines(`fantail secrets: ${error instanceof Error ? error.message : error}`))
  process.exitCode = 1
}

async function main([verb, ...more]: string[]): Promise<number> {
  if (isHelp([verb ?? '', ...more])) return help(USAGE)
  if (verb !== 'reseal' || more.length > 0) {
    console.error(USAGE)
    return 2
  }
  const settings = readApiSettings(process.env)
  const vault = await openVault(settings)
  if (!vault) throw new Error('there is no FANTAIL_MASTER_KEY')
  return await withRedis({ name: 'fantail-secrets', settings }, async (redis) => {
    const stores = { subscriptions: new Subscriptions(redis), consumers: new Consumers(redis) }
    const applications = new PlatformApplications(redis)
    const keys = { keys: new ApiKeys(redis), vaultKeys: new VaultKeys(redis) }
    // The signing key is sealed only with a master key that the operator has set, never with one that local mode made.
    const signing = settings.masterKey ? new SigningKeys(redis) : undefined
    const { found, resealed, failed } = await resealAll({
      ...stores,
      ...keys,
      applications,
      signing,
      vault,
      refuseMissing: (keyId) => refuseMissingKey(redis, keyId),
    })
    for (const { what, why } of failed) console.error(printable(`${what}: ${why}`))
    console.log(`${found} secrets, ${resealed} sealed anew with key ${vault.keyId}, ${failed.length} failed`)
    return failed.length === 0 ? 0 : 1
  })
}
