/**
 * The process of `fantail drill`. It restores a backup into a Redis that is thrown away, checks the data, and compares
 * its amounts with those of the running Redis.
 */
import { readApiSettings } from '@fantail/config'
import { printable, printableLines } from '@fantail/policy'
import { openVault } from '@fantail/runtime'
import { type Redis, readStoredData, refuseUnknownData, type StoredData, VaultKeys } from '@fantail/store'
import { withRedis } from '../frame/cli-redis.ts'
import { help, isHelp } from '../output/output.ts'
import { tableText } from '../output/text-table.ts'
import { withRestored } from './temporary-redis.ts'

const USAGE = `usage: fantail drill BACKUP

Restores a backup into a Redis of its own, on this machine and without a network, checks every message and record,
and removes it again. BACKUP is a snapshot (redis-cli --rdb) or a copy of Redis's folder. It is only read.
The Redis of the settings is read too, to compare the amounts. Without an answer from it, its column is empty.`

/** Texts that are named. Past it: the others are counted. */
const NAMED_MAX = 10
const LIVE_WAIT_MS = 2_000

try {
  process.exitCode = await main(process.argv.slice(3))
} catch (error) {
  console.error(printableLines(`fantail drill: ${error instanceof Error ? error.message : error}`))
  process.exitCode = 1
}

async function main(args: string[]): Promise<number> {
  if (isHelp(args)) return help(USAGE)
  const [backup, ...more] = args
  if (backup === undefined || more.length > 0) {
    console.error(USAGE)
    return 2
  }
  const startedAt = performance.now()
  const settings = readApiSettings(process.env)
  const restored = await withRestored(backup, (redis) => examine(redis, settings))
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  for (const line of tableText(['', 'backup', 'now'], rowsOf(restored, await readLive(settings))))
    console.log(line)
  for (const text of restored.damaged.slice(0, NAMED_MAX)) console.error(printable(text))
  const { checked, damaged, keys } = restored
  if (keys === 0) throw new Error('the backup has no key of Fantail')
  if (damaged.length > 0) throw new Error(`${damaged.length} of ${checked} texts are damaged`)
  console.log(`restored in ${seconds} s; ${checked} messages and records are whole`)
  return 0
}

type Settings = ReturnType<typeof readApiSettings>

/** Local mode without a master key of the operator has the key in its data folder, which is not part of a backup. */
async function examine(redis: Redis, settings: Settings): Promise<StoredData> {
  await refuseUnknownData(redis)
  const data = await readStoredData(redis, { checks: true })
  if (settings.mode === 'server' || settings.masterKey) {
    const vault = await openVault(settings)
    await new VaultKeys(redis).check(vault?.keyIds ?? [])
  }
  return data
}

/** undefined: there is no running Redis, as after the loss of a machine. */
async function readLive(settings: Settings): Promise<StoredData | undefined> {
  const read = (redis: Redis) => readStoredData(redis, { checks: false })
  try {
    return await withRedis({ name: 'fantail-drill', settings, waitMs: LIVE_WAIT_MS }, read)
  } catch (error) {
    console.error(printableLines(`nothing to compare with: ${(error as Error).message}`))
    return undefined
  }
}

function rowsOf(restored: StoredData, live: StoredData | undefined): (string | number)[][] {
  const names = {
    topics: 'topics',
    subscriptions: 'subscriptions',
    queues: 'queues',
    waiting: 'waiting deliveries',
    logged: 'messages in FIFO logs',
    jobs: 'groups of messages to dispatch',
    queued: 'messages in queues',
    keys: 'keys',
  } as const
  return Object.entries(names).map(([name, text]) => {
    const of = (data: StoredData | undefined) => data?.[name as keyof typeof names] ?? ''
    return [text, of(restored), of(live)]
  })
}
