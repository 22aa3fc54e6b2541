/** The process of `fantail secrets reseal`: what is left to do after the master key was changed (docs/security.md). */
import { readApiSettings, resolveRedisUrl } from '@fantail/config'
import { FantailError } from '@fantail/contracts'
import { openVault } from '@fantail/runtime'
import { ApiKeys, Consumers, connect, SigningKeys, Subscriptions, VaultKeys, whenReady } from '@fantail/store'
import { resealAll } from './secrets/reseal.ts'

/** For Redis to be found and to answer. */
const WAIT_MS = 10_000

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(`fantail secrets: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

async function main([verb, ...more]: string[]): Promise<number> {
  if (verb !== 'reseal' || more.length > 0) {
    console.error('usage: fantail secrets reseal')
    return 2
  }
  const settings = readApiSettings(process.env)
  const vault = await openVault(settings)
  if (!vault) throw new Error('there is no FANTAIL_MASTER_KEY')
  const signal = AbortSignal.timeout(WAIT_MS)
  const redis = connect({ url: await resolveRedisUrl(settings, { signal }), name: 'fantail-secrets' })
  try {
    await orTimeout(whenReady(redis), signal)
    const stores = { subscriptions: new Subscriptions(redis), consumers: new Consumers(redis) }
    const keys = { keys: new ApiKeys(redis), vaultKeys: new VaultKeys(redis) }
    // A key that local mode has made for itself does not seal what all processes sign with.
    const signing = settings.masterKey ? new SigningKeys(redis) : undefined
    const { found, resealed, failed } = await resealAll({ ...stores, ...keys, signing, vault })
    for (const { what, why } of failed) console.error(`${what}: ${why}`)
    console.log(`${found} secrets, ${resealed} sealed anew with key ${vault.keyId}, ${failed.length} failed`)
    return failed.length === 0 ? 0 : 1
  } finally {
    redis.disconnect()
  }
}

async function orTimeout(ready: Promise<void>, signal: AbortSignal): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new FantailError('storage_unavailable', 'Redis does not answer'))
    signal.addEventListener('abort', refuse, { once: true })
  })
  await Promise.race([ready, late])
}
