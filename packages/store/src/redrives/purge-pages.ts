/** Runs a purge task, one page at a time. Each page is one script, which also notes how far the task is. */
import type { RedriveFilter } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { filterJson } from '../queues/items/redrive-counts.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { taskPlace } from './redrive-records.ts'

const PURGE_PAGE = readScript('purge-page-1')
/** Messages that one script of a purge task looks at. Past it: the next script looks on. */
const PURGE_SCAN_ITEMS_MAX = 500

export interface PurgedPage {
  removed: number
  /** `stop`: the task is paused or ended. `stale`: another run has the task. */
  next: 'again' | 'stop' | 'stale'
}

export async function purgePage(
  redis: Redis,
  { id, fence, filter }: { id: string; fence: number; filter: RedriveFilter },
): Promise<PurgedPage> {
  const args = { fence, lookedAtMax: PURGE_SCAN_ITEMS_MAX, filterJson: filterJson(filter) }
  const [removed, next] = (await runScript(redis, PURGE_PAGE, { ...taskPlace(id), ...args })) as [
    number,
    Buffer,
  ]
  return { removed, next: String(next) as PurgedPage['next'] }
}
