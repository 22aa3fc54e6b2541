/**
 * The process of `fantail keys`. It uses the API's settings and Redis, and runs one command. Only the command's output
 * goes to stdout.
 */
import { auditLog } from '@fantail/access'
import { readApiSettings } from '@fantail/config'
import { printableLines } from '@fantail/policy'
import { createLogger, openAuditFile, openVault } from '@fantail/runtime'
import { ApiKeys, AuditWriter, useData, VaultKeys } from '@fantail/store'
import { withRedis } from '../frame/cli-redis.ts'
import { EXIT_CODES, exitOf } from '../output/exit-codes.ts'
import { help, isHelp } from '../output/output.ts'
import { KEYS_USAGE, runKeysCli, UsageError } from './keys-cli.ts'

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(printableLines(`fantail keys: ${error instanceof Error ? error.message : error}`))
  process.exitCode = error instanceof UsageError ? EXIT_CODES.usage : EXIT_CODES[exitOf(error)]
}

async function main(args: string[]): Promise<number> {
  if (isHelp(args)) return help(KEYS_USAGE)
  if (args.length === 0) throw new UsageError(KEYS_USAGE)
  const settings = readApiSettings(process.env)
  // Audit lines are logged only if keys are required, as in the API.
  const level = settings.auth ? 'info' : 'warn'
  const log = createLogger({ service: 'keys', level, destination: process.stderr })
  const auditFile = openAuditFile({ service: 'keys', path: settings.auditFile, log })
  return await withRedis({ name: 'fantail-keys', settings }, async (redis) => {
    // The first key may be the first data.
    await useData(redis)
    const { account } = settings.arn
    // A list or a revocation needs no key.
    const vault = await openVault(settings, log)
    const vaultKeys = new VaultKeys(redis)
    const beforeSealing = async () => {
      await vaultKeys.check(vault?.keyIds ?? [])
      if (vault) await vaultKeys.add(vault.keyId)
    }
    const auditWriter = new AuditWriter({
      redis,
      now: Date.now,
      onWrite: (state, error) => state === 'down' && log.warn({ err: error }, 'audit.write_failed'),
    })
    const cli = {
      keys: new ApiKeys(redis),
      vault,
      beforeSealing,
      account,
      audit: auditLog({ log, auditFile, auditWriter, settings }),
      print: (text: string) => console.log(printableLines(text)),
      clock: Date.now,
    }
    await runKeysCli(cli, args).finally(() => auditWriter.stop())
    return 0
  })
}
