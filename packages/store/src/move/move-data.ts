/**
 * Moves all of Fantail's data from one Redis to another or to a cluster, while no service runs.
 *
 *   refused ◀─ checks ─▶ copying (a mark on the target: from where, how far) ─▶ counted on both sides ─▶ done
 *                          ▲    │ died, broke off
 *                          └────┘ run again
 *
 * The source is only read. All keys have hash tags, so they are the same on both sides. Dispatch jobs that wait, are
 * delayed or were running are in the queue of the same name afterwards. Workers find them as after a restart. Each key
 * is compared with the source right after it was copied. The mark is removed when the waiting work on both sides has
 * been counted and is equal.
 */
import type { Redis } from 'ioredis'
import { isCluster, mastersOf } from '../redis/connections/cluster.ts'
import { type CopyOptions, copyKeys } from './copy-keys.ts'
import { countWaitingWork, scanFrom, type WaitingWork } from './waiting-work.ts'

/**
 * Hash on the target while a move has not ended: `source`, `run` (the run id of the source's server), `cursor`, `keys`,
 * `bytes`.
 */
export const MOVE_KEY = 'ft:{move}:state'
/** Connection names of Fantail's services and of BullMQ's workers. */
const SERVICE =
  /\bname=(fantail-(?:worker|api|redrive|publisher|keys|secrets)[^\s/]*|dispatch-\d+|redrive|maintenance)\b/g
/** @limit Names that an error of a move lists. Past it: further names are left out. */
const TOLD_MAX = 5

export interface MoveDataOptions extends CopyOptions {
  /** A name of the source, without credentials. A later run with the same name continues this one. */
  source: string
  onProgress?(progress: MoveProgress): void
}

interface MoveProgress {
  keys: number
  bytes: number
}

export interface MoveReport extends MoveProgress {
  /** Keys that expired before they were copied. */
  expired: number
  /** Keys of other programs in the same Redis. They are not moved. */
  foreign: number
  before: WaitingWork
  after: WaitingWork
}

/**
 * The move is refused. Either nothing was changed, or the move can be continued safely. The message says what to do.
 */
class MoveRefusedError extends Error {}

export async function moveData(options: MoveDataOptions): Promise<MoveReport> {
  const { from, to } = options
  await refuseServices(from, 'source')
  const begun = await begin(options)
  const before = await countWaitingWork(from)
  const copied = await copyAll(options, begun)
  const after = await countWaitingWork(to)
  await refuseServices(from, 'source')
  if (JSON.stringify(before) !== JSON.stringify(after)) {
    const counts = `${JSON.stringify(before)} before, ${JSON.stringify(after)} after`
    throw new MoveRefusedError(
      `what waits is not the same on both sides (${counts}): empty the target and run again`,
    )
  }
  await to.del(MOVE_KEY)
  const foreign = Math.max(0, (await from.dbsize()) - copied.keys)
  return { ...copied, foreign, before, after }
}

async function refuseServices(redis: Redis, side: string): Promise<void> {
  const lists = await Promise.all(mastersOf(redis).map((master) => master.client('LIST')))
  const names = new Set(lists.flatMap((list) => [...String(list).matchAll(SERVICE)].map(([, name]) => name)))
  if (names.size === 0) return
  const told = [...names].slice(0, TOLD_MAX).join(', ')
  throw new MoveRefusedError(`services are connected to the ${side} (${told}): stop them first`)
}

interface Begun extends MoveProgress {
  cursor: string
  run: string
}

/** Marks an empty target, or continues where an earlier run of the same move ended. */
async function begin({ from, to, source }: MoveDataOptions): Promise<Begun> {
  await refuseServices(to, 'target')
  if (isCluster(to)) await refuseBrokenCluster(to)
  const run = runOf(await from.info('server'))
  const mark = await to.hgetall(MOVE_KEY)
  if (mark.source === undefined) {
    const keys = await Promise.all(mastersOf(to).map((master) => master.dbsize()))
    const total = keys.reduce((sum, count) => sum + count, 0)
    if (total > 0) throw new MoveRefusedError(`the target is not empty: it has ${total} keys`)
    await to.hset(MOVE_KEY, { source, run, cursor: '0', keys: '0', bytes: '0' })
    return { cursor: '0', run, keys: 0, bytes: 0 }
  }
  if (mark.source !== source)
    throw new MoveRefusedError(
      `a move from ${mark.source} to this target has not ended: empty it, or go on with that one`,
    )
  // After a restart of the source's server the cursor is invalid. Copied keys are then copied once more.
  if (mark.run !== run) return { cursor: '0', run, keys: 0, bytes: 0 }
  return { cursor: mark.cursor ?? '0', run, keys: Number(mark.keys), bytes: Number(mark.bytes) }
}

async function refuseBrokenCluster(to: Redis): Promise<void> {
  const info = String(await to.cluster('INFO'))
  if (!info.includes('cluster_state:ok'))
    throw new MoveRefusedError('the target cluster is not in order (cluster_state)')
}

/** A scan may return a key twice. A source that was a target before may have its own mark, which is not copied. */
function unique(keys: Buffer[]): Buffer[] {
  const byName = new Map(keys.map((key) => [key.toString('latin1'), key]))
  byName.delete(MOVE_KEY)
  return [...byName.values()]
}

function runOf(info: string): string {
  return /^run_id:(\S+)/m.exec(info)?.[1] ?? ''
}

async function copyAll(options: MoveDataOptions, begun: Begun): Promise<MoveProgress & { expired: number }> {
  const { from, to, onProgress } = options
  let { cursor, keys, bytes } = begun
  let expired = 0
  do {
    const [next, found] = await scanFrom(from, cursor)
    const copied = await copyKeys(options, unique(found))
    keys += copied.keys
    bytes += copied.bytes
    expired += copied.expired
    cursor = next
    if (cursor !== '0') await to.hset(MOVE_KEY, { run: begun.run, cursor, keys, bytes })
    onProgress?.({ keys, bytes })
  } while (cursor !== '0')
  return { keys, bytes, expired }
}
