/** The steps of bulk tasks, each for one lane. Every step is safe to repeat. */
import type { BulkAction, BulkTask } from '@fantail/contracts'
import type { BulkOutcome } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import { notFound } from '../http/error-answers.ts'
import { changeStatus } from '../subscriptions/change.ts'
import { testRecord } from '../subscriptions/test-attempt.ts'

interface LaneStep {
  /** Id of the subscription. */
  id: string
  task: BulkTask
  /** Its status before the task. undefined: it did not exist. */
  before: string | undefined
}

type Step = (deps: ApiDeps, step: LaneStep) => Promise<BulkOutcome>

export const LANE_STEPS: Record<Exclude<BulkAction, 'redrive' | 'erase'>, Step> = {
  pause: setStatus('paused'),
  resume: setStatus('active'),
  async retry(deps, { id, task: { maxPerSecond } }) {
    const shard = await shardOf(deps, id)
    const moved = await deps.lanes.retryNow(shard, id, maxPerSecond === null ? {} : { maxPerSecond })
    return { counted: { retried: moved } }
  },
  async purge(deps, { id }) {
    return { counted: { discarded: await deps.lanes.purge(await shardOf(deps, id), id) } }
  },
  async test(deps, { id, task }) {
    const record = await deps.subscriptions.get(id)
    if (!record) throw notFound('subscription')
    const { statusCode, error } = await testRecord(deps, record, task.publicUrl)
    if (error === undefined && statusCode !== null && statusCode < 300) return { counted: { answered: 1 } }
    const message = error ?? `the endpoint answered ${statusCode}`
    return { failure: { object: id, code: 'test_failed', message } }
  },
}

/** A subscription that has the status already stays as it is, and an undo leaves it so. */
function setStatus(status: 'paused' | 'active'): Step {
  return async (deps, { id, task, before }) => {
    if (before === status) return { counted: { unchanged: 1 } }
    await changeStatus(deps, { id, requestId: task.id }, status)
    return { changed: true, counted: { [status === 'paused' ? 'paused' : 'resumed']: 1 } }
  }
}

async function shardOf({ subscriptions }: ApiDeps, id: string): Promise<number> {
  const place = await subscriptions.locate(id)
  if (!place) throw notFound('subscription')
  return place.shard
}
