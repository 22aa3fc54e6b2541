import { FantailError, parseArn, type RedriveTask, resolveQueue } from '@fantail/contracts'
import {
  DryRunAnswer,
  RedriveInput,
  RedriveList,
  RedriveListQuery,
  RedriveRateInput,
  RedriveReference,
  RedriveView,
} from '@fantail/contracts/schemas/queues/redrive-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { releaseEnded } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { redriveView } from '../../http/record-views.ts'
import { deadLetterSources } from '../../redrives/dead-letter-sources.ts'
import { letterFilterOf } from '../../redrives/filter-input.ts'

const TAG = 'Redrives'
const TASK = { 200: { description: 'The task as it is now', schema: RedriveView } }

const params = { id: RedriveReference }

const ACTIONS = [
  {
    action: 'cancel',
    id: 'cancelRedrive',
    summary: 'Cancel a redrive task',
    description:
      'Messages that were moved stay moved. A batch under way is finished first; until then it is `canceling`.',
  },
  {
    action: 'pause',
    id: 'pauseRedrive',
    summary: 'Pause a redrive task',
    description: 'A batch under way is finished, then nothing moves until the task is resumed or canceled.',
  },
  {
    action: 'resume',
    id: 'resumeRedrive',
    summary: 'Resume a redrive task',
    description: 'Goes on where the task was paused. Resuming a running task changes nothing.',
  },
] as const

export function redriveRoutes(deps: ApiDeps): Endpoint[] {
  const { redrives } = deps
  return [
    endpoint({
      id: 'startRedrive',
      method: 'POST',
      path: '/v1/redrives',
      tag: TAG,
      summary: 'Move dead letters back to their subscriptions, or to a queue',
      description:
        'Answers at once; the task then moves what is in the source at this moment. A dead letter goes only to its own ' +
        'subscription, with a new set of attempts. One redrive per source is active at a time.',
      body: RedriveInput,
      answers: {
        200: { description: 'With dryRun: what would be moved', schema: DryRunAnswer },
        202: { description: 'The task has begun', schema: RedriveView },
      },
      errors: ['not_found', 'redrive_active', 'storage_full'],
      handle: (call) => createRedrive(deps, call),
    }),
    endpoint({
      id: 'listRedrives',
      method: 'GET',
      path: '/v1/redrives',
      tag: TAG,
      summary: 'List redrive tasks',
      description: 'Active tasks and those that ended within 14 days, newest first.',
      query: RedriveListQuery,
      answers: { 200: { description: 'A page, newest first', schema: RedriveList } },
      handle: ({ query }) => listRedrives(deps, query),
    }),
    endpoint({
      id: 'getRedrive',
      method: 'GET',
      path: '/v1/redrives/{id}',
      params,
      tag: TAG,
      summary: 'Read a redrive task and its progress',
      description: 'Shows status, rate, and how many messages matched, were moved or were skipped.',
      answers: { 200: { description: 'The task', schema: RedriveView } },
      errors: ['not_found'],
      handle: async ({ params }) => {
        const task = await redrives.get(params.id ?? '')
        if (!task) throw notFound('redrive')
        return ok(redriveView(task))
      },
    }),
    endpoint({
      id: 'updateRedrive',
      method: 'PATCH',
      path: '/v1/redrives/{id}',
      params,
      tag: TAG,
      summary: 'Change the rate of an active task',
      description: 'Acts on a running or paused task. A task that has ended answers 409.',
      body: RedriveRateInput,
      answers: TASK,
      errors: ['not_found', 'wrong_state'],
      handle: async (call) => changed(deps, call, await redrives.patch(call.params.id ?? '', call.body)),
    }),
    ...ACTIONS.map(({ action, ...documented }) =>
      endpoint({
        ...documented,
        method: 'POST',
        path: `/v1/redrives/{id}/${action}`,
        params,
        tag: TAG,
        body: NoBody,
        bodyIs: 'optional',
        answers: TASK,
        errors: ['not_found', 'wrong_state'],
        handle: async (call) => changed(deps, call, await redrives[action](call.params.id ?? '')),
      }),
    ),
  ]
}

async function changed(deps: ApiDeps, { requestId }: Call, task: RedriveTask): Promise<Answer> {
  await releaseEnded(deps.subscriptions, task)
  const { id: redriveId, status, maxMessagesPerSecond } = task
  deps.log.info({ requestId, redriveId, status, maxMessagesPerSecond }, 'redrive.changed')
  return ok(redriveView(task))
}

async function createRedrive(
  deps: ApiDeps,
  { body, requestId }: Call<unknown, z.output<typeof RedriveInput>>,
): Promise<Answer> {
  const { arn } = deps.settings
  const source = resolveQueue(body.source, arn, 'source')
  const destination = body.destination ? resolveQueue(body.destination, arn, 'destination') : null
  const filter = await letterFilterOf(deps, body.filter ?? {})
  if (body.dryRun) {
    return ok(await deps.redrives.dryRun(source, filter))
  }
  const canary = body.canary ?? null
  if (canary !== null && destination !== null) throw FantailError.invalid('canary', CANARY_TO_QUEUE)
  if (destination === null) await checkOrigin(deps, source)
  const maxMessagesPerSecond = body.maxMessagesPerSecond ?? null
  const task = await deps.redrives.create({ source, destination, maxMessagesPerSecond, filter, canary })
  deps.log.info(
    { requestId, redriveId: task.id, source, destination, matched: task.matched },
    'redrive.created',
  )
  return { status: 202, body: redriveView(task) }
}

const CANARY_TO_QUEUE = 'cannot be given with a destination: a message in a queue has no end to wait for'
const NO_ORIGIN =
  'must be named: the source is not the dead-letter queue of a subscription or queue, and nothing in it came from one'

/** A queue that is nobody's dead-letter queue any more may still have messages that can go back. */
async function checkOrigin(deps: ApiDeps, source: string): Promise<void> {
  if ((await deadLetterSources(deps, source)).length > 0) return
  const { matched, withoutOrigin } = await deps.redrives.dryRun(source, {})
  if (withoutOrigin === matched) throw FantailError.invalid('destination', NO_ORIGIN)
}

async function listRedrives(deps: ApiDeps, query: z.output<typeof RedriveListQuery>): Promise<Answer> {
  const { source, ...rest } = query
  const { items, nextCursor } = await deps.redrives.list({
    ...rest,
    ...(source !== undefined && { source: sourceIn(source, deps) }),
  })
  return ok({ redrives: items.map(redriveView), nextCursor })
}

/** A queue, or the ARN of a subscription that messages are resent to. */
function sourceIn(given: string, { settings }: ApiDeps): string {
  return parseArn(given)?.subscriptionId === undefined ? resolveQueue(given, settings.arn, 'source') : given
}
