/**
 * Moves all of Fantail's data from one Redis to another or to a cluster, while no service runs.
 *
 *   refused ◀─ checks ─▶ copying (a note on the target: from where) ─▶ compared ─▶ done
 *                          ▲    │ died, broke off, or the source changed
 *                          └────┘ run again
 *
 * The source is only read. All keys have hash tags, so they are the same on both sides. Dispatch jobs that wait, are
 * delayed or were running are in the queue of the same name afterwards. Workers find them as after a restart. Each key
 * is compared with the source right after it was copied, and once more at the end if Redis reported a change of it.
 *
 * A run never trusts an earlier one, because the source may have changed between them. It copies every key again, and
 * removes the keys of the target that the source no longer has.
 */
import type { Redis } from 'ioredis'
import { isCluster, mastersOf } from '../redis/connections/cluster.ts'
import { type CopyOptions, copyKeys, differingKeys, removeKeys } from './copy-keys.ts'
import { type SourceWatch, watchSource } from './source-watch.ts'
import { countWaitingWork, keysOf, OUR_PREFIX, type WaitingWork } from './waiting-work.ts'

/** Hash on the target while a move has not ended: `source`. */
export const MOVE_KEY = 'ft:{move}:state'
/** Connection names of Fantail's services and of BullMQ's workers. */
const SERVICE =
  /\bname=(fantail-(?:worker|api|redrive|publisher|keys|secrets)[^\s/]*|dispatch-\d+|redrive|maintenance)\b/g
/** Names that an error of a move lists. Past it: further names are left out. */
const REFUSAL_NAMES_MAX = 5

export interface MoveDataOptions extends CopyOptions {
  /** A name of the source, without credentials. A later run with the same name may repeat this one. */
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

/** The move is refused. Either nothing was changed, or the move can be repeated. The message says what to do. */
class MoveRefusedError extends Error {}

export async function moveData(options: MoveDataOptions): Promise<MoveReport> {
  const { from, to } = options
  await refuseServices(from, 'source')
  await begin(options)
  const watch = await watchSource(from, OUR_PREFIX)
  try {
    await removeOldCopies(options)
    const before = await countWaitingWork(from)
    const copied = await copyAll(options)
    const after = await countWaitingWork(to)
    await refuseServices(from, 'source')
    await refuseServices(to, 'target')
    await refuseChanges(options, watch)
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      const counts = `${JSON.stringify(before)} before, ${JSON.stringify(after)} after`
      throw new MoveRefusedError(`what waits is not the same on both sides (${counts}): run again`)
    }
    await to.del(MOVE_KEY)
    const foreign = Math.max(0, (await from.dbsize()) - copied.keys)
    return { ...copied, foreign, before, after }
  } finally {
    watch.close()
  }
}

/** A writer that was connected only for a moment is not in the list of connections, but its changes are reported. */
async function refuseChanges({ from, to }: MoveDataOptions, watch: SourceWatch): Promise<void> {
  const changed = await watch.changed()
  if (changed === undefined) {
    throw new MoveRefusedError(
      'changes of the source may have been missed, because a connection to it was lost or too many keys changed: run again',
    )
  }
  const differing = (await differingKeys({ from, to }, unique(changed))).map((key) => key.toString('latin1'))
  if (differing.length === 0) return
  const named = differing.slice(0, REFUSAL_NAMES_MAX).join(', ')
  throw new MoveRefusedError(
    `the source changed during the move (${differing.length} keys, such as ${named}): stop every program that writes to it, and run again`,
  )
}

async function refuseServices(redis: Redis, side: string): Promise<void> {
  const lists = await Promise.all(mastersOf(redis).map((master) => master.client('LIST')))
  const names = new Set(lists.flatMap((list) => [...String(list).matchAll(SERVICE)].map(([, name]) => name)))
  if (names.size === 0) return
  const named = [...names].slice(0, REFUSAL_NAMES_MAX).join(', ')
  throw new MoveRefusedError(`services are connected to the ${side} (${named}): stop them first`)
}

/** Takes an empty target, or a target on which an earlier run of the same move has not ended. */
async function begin({ from, to, source }: MoveDataOptions): Promise<void> {
  await refuseServices(to, 'target')
  if (isCluster(to)) await refuseBrokenCluster(to)
  const note = await to.hget(MOVE_KEY, 'source')
  if (note === null) {
    const keys = await Promise.all(mastersOf(to).map((master) => master.dbsize()))
    const total = keys.reduce((sum, count) => sum + count, 0)
    if (total > 0) throw new MoveRefusedError(`the target is not empty: it has ${total} keys`)
    await to.hset(MOVE_KEY, { source })
  } else if (note !== source) {
    throw new MoveRefusedError(
      `a move from ${note} to this target has not ended: empty it, or repeat that one`,
    )
  } else if ((await from.dbsize()) === 0) {
    // The copies may be the only data that are left, for example if the source was started without its files.
    throw new MoveRefusedError('the source is empty, but an earlier run has copied keys from it')
  }
}

async function refuseBrokenCluster(to: Redis): Promise<void> {
  const info = String(await to.cluster('INFO'))
  if (!info.includes('cluster_state:ok'))
    throw new MoveRefusedError('the target cluster is not in order (cluster_state)')
}

/** A scan may return a key twice. A source that was a target before may have its own note, which is not copied. */
function unique(keys: Buffer[]): Buffer[] {
  const byName = new Map(keys.map((key) => [key.toString('latin1'), key]))
  byName.delete(MOVE_KEY)
  return [...byName.values()]
}

/** An earlier run may have copied keys that the source no longer has. */
async function removeOldCopies({ from, to }: MoveDataOptions): Promise<void> {
  for (const master of mastersOf(to)) {
    for await (const found of keysOf(master)) await removeKeys({ from, to }, unique(found))
  }
}

async function copyAll(options: MoveDataOptions): Promise<MoveProgress & { expired: number }> {
  const { from, onProgress } = options
  let [keys, bytes, expired] = [0, 0, 0]
  for await (const found of keysOf(from)) {
    const copied = await copyKeys(options, unique(found))
    keys += copied.keys
    bytes += copied.bytes
    expired += copied.expired
    onProgress?.({ keys, bytes })
  }
  return { keys, bytes, expired }
}
