/**
 * The process of `fantail move`. It copies all of Fantail's keys from one Redis to the Redis or cluster of the
 * settings.
 */
import { parseArgs } from 'node:util'
import { readRedriveSettings, redisTarget } from '@fantail/config'
import type { RedisTarget } from '@fantail/contracts'
import { printableLines } from '@fantail/policy'
import {
  connect,
  type MoveReport,
  moveData,
  type Redis,
  type RedisMode,
  refuseUnknownData,
  WrongRedisError,
  whenServerChecked,
} from '@fantail/store'
import { help, isHelp } from '../output/output.ts'

const USAGE = `usage: fantail move --from redis://HOST:PORT [--to HOST:PORT,HOST:PORT,…]

Copies everything of Fantail, with every delivery that waits, while no service runs; the source is only read.
Without --to it goes where REDIS_CLUSTER_NODES, REDIS_SENTINELS or REDIS_URL say, which is what the services
will be given afterwards. After a failure, run it again: it copies everything once more.
A source that changes meanwhile makes it fail.`

/** The wait of `fantail move` for a Redis that does not answer. Past it: the command fails. */
const MOVE_WAIT_MS = 10_000
/** One command of `fantail move`. Past it: the move breaks off and can be run again. */
const MOVE_COMMAND_TIMEOUT_MS = 60_000
const TELL_EVERY_MS = 2_000
const PLACES = ['REDIS_URL', 'REDIS_CLUSTER_NODES', 'REDIS_SENTINELS', 'REDIS_SENTINEL_NAME']

const WRONG: Record<RedisMode, string> = {
  cluster: 'is a node of a Redis Cluster, not a single Redis: a cluster can be a target, by --to HOST:PORT,…',
  standalone: 'is a single Redis, not a node of a cluster: name it by --to redis://HOST:PORT',
  sentinel: 'is a Sentinel: name the master, or set REDIS_SENTINELS and REDIS_SENTINEL_NAME in place of --to',
  unknown: '',
}

/** The command line is invalid. */
class UsageError extends Error {}

try {
  const args = process.argv.slice(3)
  if (isHelp(args)) help(USAGE)
  else await main(args)
} catch (error) {
  console.error(printableLines(`fantail move: ${error instanceof Error ? error.message : error}`))
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function main(args: string[]): Promise<void> {
  const { from: url, source, target } = parsed(args)
  const from = connect({ url: source, name: 'fantail-move', commandTimeoutMs: MOVE_COMMAND_TIMEOUT_MS })
  const to = connect({ url: target, name: 'fantail-move', commandTimeoutMs: MOVE_COMMAND_TIMEOUT_MS })
  try {
    await answering({ redis: from, target: source, side: 'the source' })
    await answering({ redis: to, target, side: 'the target' })
    for (const redis of [from, to]) await refuseUnknownData(redis)
    const startedAt = performance.now()
    const onProgress = progressReporter()
    report(await moveData({ from, to, source: placeOf(url), onProgress }), performance.now() - startedAt)
  } finally {
    from.disconnect()
    to.disconnect()
  }
}

function parsed(args: string[]) {
  const { from, to } = optionsOf(args)
  if (!from || !URL.canParse(from) || !/^rediss?:$/.test(new URL(from).protocol)) {
    throw usageError('--from must be redis://HOST:PORT or rediss://HOST:PORT')
  }
  const target = redisTarget(readRedriveSettings(to === undefined ? process.env : sideEnv(to)))
  const source = redisTarget(readRedriveSettings(sideEnv(from)))
  if (target === undefined || source === undefined) {
    throw usageError(`nothing says where to: give --to, or set one of ${PLACES.slice(0, 3).join(', ')}`)
  }
  const url = typeof target === 'string' ? target : 'url' in target && target.url
  if (url && placeOf(url) === placeOf(from)) throw new UsageError('source and target are the same')
  return { from, source, target }
}

function optionsOf(args: string[]) {
  try {
    return parseArgs({ args, options: { from: { type: 'string' }, to: { type: 'string' } } }).values
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

function usageError(why: string): UsageError {
  return new UsageError(`${why}\n\n${USAGE}`)
}

/**
 * Settings of one side. One URL is a single Redis. Anything else lists nodes of a cluster. TLS settings apply only to a
 * side that uses TLS.
 */
function sideEnv(side: string): Record<string, string | undefined> {
  const isUrl = /^rediss?:/.test(side) && !side.includes(',')
  const without = [...PLACES, ...(isUrl ? ['REDIS_CLUSTER_NAT_MAP'] : [])]
  const isPlain = side.startsWith('redis:')
  const isMeant = (name: string) => !without.includes(name) && !(isPlain && name.startsWith('REDIS_TLS'))
  const others = Object.entries(process.env).filter(([name]) => isMeant(name))
  return { ...Object.fromEntries(others), [isUrl ? 'REDIS_URL' : 'REDIS_CLUSTER_NODES']: side }
}

/** Without credentials. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname}`
}

interface Side {
  redis: Redis
  target: RedisTarget
  side: string
}

async function answering({ redis, target, side }: Side): Promise<void> {
  const signal = AbortSignal.timeout(MOVE_WAIT_MS)
  let problem = ''
  const onProblem = ({ message }: Error) => {
    problem = `: ${message}`
  }
  try {
    await whenServerChecked({ redis, target, signal, onProblem })
  } catch (error) {
    if (signal.aborted) throw new Error(`${side} does not answer${problem}`)
    throw error instanceof WrongRedisError ? new Error(`${side} ${WRONG[error.found]}`) : error
  }
}

function progressReporter() {
  let toldAt = performance.now()
  return ({ keys, bytes }: { keys: number; bytes: number }) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return
    toldAt = performance.now()
    console.error(`${keys} keys, ${megabytes(bytes)}`)
  }
}

function report({ keys, bytes, expired, foreign, before, after }: MoveReport, tookMs: number): void {
  console.log(
    `moved ${keys} keys, ${megabytes(bytes)}, each compared with the source, in ${(tookMs / 1_000).toFixed(1)} s`,
  )
  if (expired > 0) console.log(`${expired} keys had come to the end of their time`)
  if (foreign > 0) console.log(`about ${foreign} keys of others were left where they are`)
  for (const [name, text] of [
    ['waiting', 'deliveries waiting in lanes'],
    ['inFlight', 'deliveries in flight when their workers stopped'],
    ['logged', 'messages in the logs of FIFO topics'],
    ['jobs', 'groups of messages to dispatch'],
    ['queued', 'messages in queues'],
  ] as const) {
    console.log(`${text}: ${before[name]} before, ${after[name]} after`)
  }
  console.log(
    'Start the services at the target only: the source still has everything, and would send it again.',
  )
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`
}
