/** The process of `fantail secrets`, which makes, wraps and changes master keys (docs/outbound.md). */
import { readApiSettings, readKeySettings } from '@fantail/config'
import { openBlockStore } from '@fantail/delivery'
import { printable, printableLines } from '@fantail/policy'
import { openVault } from '@fantail/runtime'
import {
  ApiKeys,
  countArchivedTexts,
  countSealedTexts,
  PlatformApplications,
  PushConsumerRecords,
  type Redis,
  refuseMissingKey,
  SigningKeys,
  Subscriptions,
  VaultKeys,
} from '@fantail/store'
import { sealingKeyOf, type Vault } from '@fantail/vault'
import { withRedis } from '../frame/cli-redis.ts'
import { help, isHelp } from '../output/output.ts'
import { newKeyText, rewrappedText } from './key-texts.ts'
import { countSecrets, resealAll } from './reseal.ts'

const USAGE = [
  'usage: fantail secrets create [KEY]   print a new master key, wrapped by a key of AWS KMS or Vault if one is named',
  '       fantail secrets wrap KEY       print FANTAIL_MASTER_KEY, wrapped by this key',
  '       fantail secrets reseal         seal secrets again with FANTAIL_MASTER_KEY',
  '       fantail secrets report         count what each master key has sealed',
  'KEY: awskms:ARN or vault:PATH/NAME, such as vault:transit/fantail',
].join('\n')

type Settings = ReturnType<typeof readApiSettings>

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(printableLines(`fantail secrets: ${error instanceof Error ? error.message : error}`))
  process.exitCode = 1
}

async function main([verb, ...more]: string[]): Promise<number> {
  if (isHelp([verb ?? '', ...more])) return help(USAGE)
  const [key] = more
  if (verb === 'create' && more.length <= 1) return print(await newKeyText(key, readKeySettings(process.env)))
  if (verb === 'wrap' && more.length === 1 && key !== undefined) return print(await wrap(key))
  if (verb === 'reseal' && more.length === 0) return await withVault(reseal)
  if (verb === 'report' && more.length === 0) return await withVault(report)
  console.error(USAGE)
  return 2
}

function print(text: string): number {
  console.log(text)
  return 0
}

function wrap(by: string): Promise<string> {
  const { masterKey, ...settings } = readKeySettings(process.env)
  const masterKeyText = process.env.FANTAIL_MASTER_KEY?.trim() ?? ''
  return rewrappedText(by, { masterKey, masterKeyText }, settings)
}

async function withVault(
  use: (redis: Redis, vault: Vault, settings: Settings) => Promise<number>,
): Promise<number> {
  const settings = readApiSettings(process.env)
  const vault = await openVault(settings)
  if (!vault) throw new Error('FANTAIL_MASTER_KEY is not set')
  return await withRedis({ name: 'fantail-secrets', settings }, (redis) => use(redis, vault, settings))
}

async function reseal(redis: Redis, vault: Vault, settings: Settings): Promise<number> {
  const { found, resealed, failed } = await resealAll({
    ...storesOf(redis, settings),
    vaultKeys: new VaultKeys(redis),
    vault,
    refuseMissing: (keyId) => refuseMissingKey(redis, keyId),
  })
  for (const { what, why } of failed) console.error(printable(`${what}: ${why}`))
  console.log(`${found} secrets, ${resealed} sealed again with key ${vault.keyId}, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
}

async function report(redis: Redis, { keyId, keyIds }: Vault, settings: Settings): Promise<number> {
  const counts = {
    secrets: await countSecrets(storesOf(redis, settings)),
    'texts of messages in Redis': await countSealedTexts(redis, sealingKeyOf),
    'in archives': await countArchives(redis, settings),
  }
  const found = Object.values(counts).flatMap((byKey) => [...byKey.keys()])
  for (const id of new Set([...keyIds, ...found.sort()])) {
    const use = id === keyId ? 'seals' : keyIds.includes(id) ? 'opens' : 'is missing'
    const sealed = Object.entries(counts).map(([what, byKey]) => `${what} ${byKey.get(id) ?? 0}`)
    console.log(`key ${id} ${use}; has sealed: ${sealed.join(', ')}`)
  }
  return 0
}

async function countArchives(redis: Redis, settings: Settings): Promise<Map<string, number>> {
  const { archive, awsClientCredentials: credentials } = settings
  if (archive === undefined) return new Map()
  const blocks = openBlockStore({ url: archive, credentials, clock: Date.now })
  return await countArchivedTexts(redis, blocks, sealingKeyOf).finally(() => blocks.close())
}

function storesOf(redis: Redis, settings: Settings) {
  return {
    subscriptions: new Subscriptions(redis),
    pushConsumers: new PushConsumerRecords(redis),
    keys: new ApiKeys(redis),
    applications: new PlatformApplications(redis),
    // The signing key is sealed only with a master key that the operator has set, never with one that local mode made.
    signing: settings.masterKey ? new SigningKeys(redis) : undefined,
  }
}
