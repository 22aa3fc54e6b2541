/**
 * Redrives the letters of several lanes in one queue, and waits for the end, so that the task's end means that
 * everything was moved. A run that was killed may have started the redrive: the next run finds it by its filter.
 */
import { isDeepStrictEqual } from 'node:util'
import { FantailError, type RedriveFilter, type RedriveTask } from '@fantail/contracts'
import type { BulkOutcome } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { RedriveObject } from './plan-bulk.ts'

/** Waits a moment, or as long as told. Resolves to false if the task is canceled. Rejects with a TaskLeftError. */
export type Hold = (waitMs?: number) => Promise<boolean>

/** This process stops, or another one has the task by now. The batch is repeated there. */
export class TaskLeftError extends Error {}

interface Redriving {
  source: string
  filter: RedriveFilter
  maxPerSecond: number | null
}

export async function redriveLanes(
  deps: Pick<ApiDeps, 'redrives'>,
  object: string,
  { maxPerSecond, hold }: { maxPerSecond: number | null; hold: Hold },
): Promise<BulkOutcome> {
  const { queueArn, subscriptions } = JSON.parse(object) as RedriveObject
  const wanted = { source: queueArn, filter: { subscriptions }, maxPerSecond }
  const { moved, skipped } = await untilMoved(deps, wanted, hold)
  return { counted: { redriven: moved, skipped } }
}

/** Throws `redrive_active` if another redrive has the queue. */
async function untilMoved(
  deps: Pick<ApiDeps, 'redrives'>,
  wanted: Redriving,
  hold: Hold,
): Promise<RedriveTask> {
  let task = (await activeOf(deps, wanted)) ?? (await start(deps, wanted, hold))
  while (task.endedAt === null) {
    if (!(await hold())) {
      await deps.redrives.cancel(task.id)
      throw new FantailError('wrong_state', 'the task was canceled while its redrive ran')
    }
    task = (await deps.redrives.get(task.id)) ?? task
  }
  if (task.status === 'failed') throw new FantailError('conflict', task.error ?? 'the redrive failed')
  return task
}

async function activeOf({ redrives }: Pick<ApiDeps, 'redrives'>, { source, filter }: Redriving) {
  const { items } = await redrives.list({ source, status: 'running', limit: 1 })
  return items.find((task) => task.action === 'redrive' && isDeepStrictEqual(task.filter, filter))
}

async function start(
  { redrives }: Pick<ApiDeps, 'redrives'>,
  { source, filter, maxPerSecond }: Redriving,
  hold: Hold,
): Promise<RedriveTask> {
  if (!(await hold(0)))
    throw new FantailError('wrong_state', 'the task was canceled before its redrive began')
  return redrives.create({ source, filter, destination: null, maxMessagesPerSecond: maxPerSecond })
}
