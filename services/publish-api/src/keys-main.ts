/** The process of `fantail keys`: the API's own settings, its Redis, one command. What is asked for goes to stdout alone. */
import { readApiSettings, resolveRedisUrl } from '@fantail/config'
import { FantailError } from '@fantail/contracts'
import { createLogger, openVault } from '@fantail/runtime'
import { ApiKeys, connect, VaultKeys, whenReady } from '@fantail/store'
import { KEYS_USAGE, runKeysCli, UsageError } from './keys-cli.ts'

/** For Redis to be found and to answer. */
const WAIT_MS = 10_000

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(`fantail keys: ${error instanceof Error ? error.message : error}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function main(args: string[]): Promise<number> {
  if (args.length === 0) throw new UsageError(KEYS_USAGE)
  const settings = readApiSettings(process.env)
  const log = createLogger({ service: 'keys', destination: process.stderr })
  const signal = AbortSignal.timeout(WAIT_MS)
  const url = await resolveRedisUrl(settings, { signal })
  const redis = connect({ url, name: 'fantail-keys' })
  try {
    await orTimeout(whenReady(redis), signal)
    const { account } = settings.arn
    const vault = await openVault(settings)
    const vaultKeys = new VaultKeys(redis)
    const beforeSealing = async () => {
      await vaultKeys.check(vault?.keyIds ?? [])
      if (vault) await vaultKeys.add(vault.keyId)
    }
    const cli = {
      keys: new ApiKeys(redis),
      vault,
      beforeSealing,
      account,
      log,
      print: console.log,
      clock: Date.now,
    }
    await runKeysCli(cli, args)
    return 0
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
