/** Acting on many: plans, and the tasks that carry them out. */
import { type BulkTask, FantailError } from '@fantail/contracts'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import {
  BulkPlanInput,
  BulkStartInput,
  BulkTaskList,
  BulkTaskListQuery,
  BulkTaskView,
} from '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import { z } from 'zod'
import { bulkView, isUndoable, seesTask, UNDONE_BY } from '../../bulk/bulk-view.ts'
import { needBulkScope, planBulk } from '../../bulk/plan-bulk.ts'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { OneByOne } from '../../http/one-by-one.ts'
import { publicUrlFor } from '../../http/origin.ts'

const TAG = 'Bulk'
const params = { id: z.string().describe('A bulk task by its id (a UUID).') }
const TASK = { 200: { description: 'The task as it is now', schema: BulkTaskView } }
const STARTED = { 202: { description: 'The task has begun', schema: BulkTaskView } }

export function bulkRoutes(deps: ApiDeps): Endpoint[] {
  const plans = new OneByOne('plans')
  return [
    endpoint({
      id: 'planBulk',
      method: 'POST',
      path: '/v1/bulk-plans',
      tag: TAG,
      summary: 'Plan an action on many lanes; nothing is changed yet',
      description:
        'Answers what would be acted on and what is left out. The plan keeps these objects for 15 minutes: `startBulk` ' +
        'acts on them, and on no others that match later. A key acts only on what it may change.',
      body: BulkPlanInput,
      answers: { 201: { description: 'The plan', schema: BulkTaskView } },
      errors: ['rate_limited', 'storage_full'],
      handle: async (call) => {
        const task = await plans.take(() => planBulk(deps, call))
        return { status: 201, body: bulkView(task) }
      },
    }),
    endpoint({
      id: 'startBulk',
      method: 'POST',
      path: '/v1/bulk',
      tag: TAG,
      summary: 'Carry out a plan',
      description:
        'Answers at once. The task runs in the background, also if this server is stopped or killed meanwhile. Starting ' +
        'a plan again changes nothing.',
      body: BulkStartInput,
      answers: STARTED,
      errors: ['not_found', 'conflict'],
      handle: async (call) => {
        const { id } = await ownTaskOf(deps, call, call.body.plan)
        return started(deps, call, await deps.bulk.start(id))
      },
    }),
    endpoint({
      id: 'listBulkTasks',
      method: 'GET',
      path: '/v1/bulk',
      tag: TAG,
      summary: 'List bulk tasks',
      description: 'Tasks that were started, the latest first, for 14 days. A key sees its own tasks.',
      query: BulkTaskListQuery,
      answers: { 200: { description: 'A page, the latest first', schema: BulkTaskList } },
      handle: async ({ query, caller }) => {
        const { items, nextCursor } = await deps.bulk.list(query)
        const tasks = items.filter((task) => seesTask(caller, task)).map((task) => bulkView(task))
        return ok({ tasks, nextCursor })
      },
    }),
    endpoint({
      id: 'getBulkTask',
      method: 'GET',
      path: '/v1/bulk/{id}',
      params,
      tag: TAG,
      summary: 'Read a plan or task, its progress and its failures',
      description: 'Failures are listed with the object and the reason.',
      answers: { 200: { description: 'The plan or task', schema: BulkTaskView } },
      errors: ['not_found'],
      handle: async (call) => {
        const task = await taskOf(deps, call, call.params.id ?? '')
        return ok(bulkView(task, await deps.bulk.failures(task.id)))
      },
    }),
    endpoint({
      id: 'cancelBulkTask',
      method: 'POST',
      path: '/v1/bulk/{id}/cancel',
      params,
      tag: TAG,
      summary: 'Cancel a bulk task',
      description:
        'Its present batch is finished first. The task undoes nothing by itself; `undoBulkTask` does.',
      body: NoBody,
      bodyIs: 'optional',
      answers: TASK,
      errors: ['not_found', 'wrong_state'],
      handle: async (call) => {
        const { id } = await ownTaskOf(deps, call, call.params.id ?? '')
        return ok(bulkView(await deps.bulk.cancel(id)))
      },
    }),
    endpoint({
      id: 'undoBulkTask',
      method: 'POST',
      path: '/v1/bulk/{id}/undo',
      params,
      tag: TAG,
      summary: 'Undo a pause or resume of many',
      description:
        'Starts a task on exactly the subscriptions that the other one has changed. A subscription that was ' +
        'paused before stays paused.',
      body: NoBody,
      bodyIs: 'optional',
      answers: STARTED,
      errors: ['not_found', 'wrong_state', 'conflict', 'storage_full'],
      handle: async (call) => undo(deps, call, await ownTaskOf(deps, call, call.params.id ?? '')),
    }),
  ]
}

/** Throws `not_found` also for a task that the caller may not see. */
async function taskOf({ bulk }: ApiDeps, { caller }: Call, id: string): Promise<BulkTask> {
  const task = await bulk.get(id)
  if (!task || !seesTask(caller, task)) throw notFound('bulk task')
  return task
}

/** A task that the caller may start, cancel or undo. Throws `not_found` or `forbidden`. */
async function ownTaskOf(deps: ApiDeps, call: Call, id: string): Promise<BulkTask> {
  const task = await taskOf(deps, call, id)
  needBulkScope(call.caller, task.action)
  return task
}

function started(deps: ApiDeps, { requestId }: Call, task: BulkTask): Answer {
  const { id, action, total } = task
  deps.bulkRunner.wake()
  deps.log.info({ requestId, task: id, action, total }, 'bulk.started')
  return { status: 202, body: bulkView(task) }
}

async function undo(deps: ApiDeps, call: Call, task: BulkTask): Promise<Answer> {
  const action = UNDONE_BY[task.action]
  if (action === undefined || !isUndoable(task))
    throw new FantailError(
      'wrong_state',
      'only a pause or resume that has ended and is not undone can be undone',
    )
  const { caller } = call
  const objects = await deps.bulk.changed(task.id)
  const plan = await deps.bulk.plan({
    action,
    objects,
    counts: { lanes: objects.length },
    sample: task.sample,
    refused: { count: 0, first: [] },
    maxPerSecond: null,
    leaving: null,
    key: caller && { id: caller.id, account: caller.account, prefixes: caller.prefixes },
    publicUrl: publicUrlFor(deps.settings, call),
    undoes: task.id,
  })
  return started(deps, call, await deps.bulk.start(plan.id))
}
