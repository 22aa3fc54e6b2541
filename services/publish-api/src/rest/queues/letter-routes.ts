/** Routes for the dead letters of a queue: count and group them, remove them, send one again. */
import type { ErrorCode } from '@fantail/contracts'
import {
  DeadLetterCounts,
  DeadLetterCountsQuery,
  PurgeAnswer,
  PurgeInput,
} from '@fantail/contracts/schemas/queues/letter-schemas'
import { QueueMessageReference } from '@fantail/contracts/schemas/queues/queue-message-schemas'
import { EditedRedrive, EditInput, RedriveView } from '@fantail/contracts/schemas/queues/redrive-schemas'
import { QueueReference } from '@fantail/contracts/schemas/shared-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok, queueOf } from '../../http/endpoint.ts'
import { redriveView } from '../../http/record-views.ts'
import { letterFilterOf } from '../../redrives/filter-input.ts'
import { groupedView, subscriptionNames } from '../../redrives/letter-groups-view.ts'
import { redriveSingle } from '../../redrives/single-redrive.ts'
import type { FilterTrials } from '../../subscriptions/filters.ts'

const ERRORS: ErrorCode[] = ['not_found', 'redrive_active', 'storage_full']

/** @limit Dead letters that one request removes by a filter. Past it: a task removes them, and the answer is 202. */
const PURGED_AT_ONCE_MAX = 1_000

export function letterRoutes(deps: ApiDeps, trials: FilterTrials): Endpoint[] {
  const params = { queue: QueueReference }
  return [
    endpoint({
      id: 'countDeadLetters',
      method: 'GET',
      path: '/v1/queues/{queue}/dead-letters',
      params,
      tag: 'Queues',
      summary: 'Count or group dead letters',
      description:
        'Without a query it answers from counters, so it is quick however much the queue holds. With `groupBy` or a ' +
        'filter it reads the queue, oldest first, and says in `scannedTo` how far it looked; `nextCursor` looks on. ' +
        'Other messages are not counted.',
      query: DeadLetterCountsQuery,
      answers: { 200: { description: 'The counts', schema: DeadLetterCounts } },
      errors: ['not_found'],
      handle: (call) => countLetters(deps, call),
    }),
    endpoint({
      id: 'purgeQueue',
      method: 'POST',
      path: '/v1/queues/{queue}/purge',
      params,
      tag: 'Queues',
      summary: 'Remove everything in the queue, or the dead letters that a filter matches',
      description:
        'Removes what was sent before the call: visible, delayed and in flight. Nothing brings it back. With `filter` ' +
        `it removes only dead letters that match, and with \`dryRun\` it counts them. If more than ${PURGED_AT_ONCE_MAX} ` +
        'match, a task removes them: `/v1/redrives/{id}` shows its progress, and can pause and cancel it.',
      body: PurgeInput,
      bodyIs: 'optional',
      answers: {
        200: { description: 'How many were removed', schema: PurgeAnswer },
        202: { description: 'The task that removes them has begun', schema: RedriveView },
      },
      errors: ERRORS,
      handle: (call) => purge(deps, call),
    }),
    endpoint({
      id: 'redriveMessage',
      method: 'POST',
      path: '/v1/queues/{queue}/messages/{messageId}/redrive',
      params: { ...params, messageId: QueueMessageReference },
      tag: 'Redrives',
      summary: 'Send one message again, edited if wanted',
      description:
        'A dead letter goes back to its subscription, or any message to `destination`. An edited message gets a new id, ' +
        'and the old one goes along: in the attribute `fantail.editedFrom`, and to webhooks as `x-fantail-edited-from`. ' +
        'The filter policy and the size limits of the target are checked first. A refusal changes nothing. In a FIFO ' +
        'queue only the first message of a group can be sent. Needs the scopes `redrive`, `publish` and `bodies`.',
      body: EditInput,
      bodyIs: 'optional',
      answers: { 202: { description: 'The redrive has begun', schema: EditedRedrive } },
      errors: [...ERRORS, 'wrong_state'],
      handle: (call) => redriveSingle(deps, trials, call),
    }),
  ]
}

async function countLetters(
  deps: ApiDeps,
  call: Call<z.output<typeof DeadLetterCountsQuery>>,
): Promise<Answer> {
  const { groupBy, cursor, ...given } = call.query
  const queueArn = queueOf(deps, call)
  if (Object.keys(call.query).length === 0) return ok(await deps.queues.deadLetterCounts(queueArn))
  const filter = await letterFilterOf(deps, given, '')
  const found = await deps.queues.groupDeadLetters(queueArn, { groupBy: groupBy ?? [], filter, cursor })
  const arns = found.groups.flatMap(({ values }) => values.subscription ?? [])
  return ok(groupedView(found, groupBy, await subscriptionNames(deps, call.caller, arns)))
}

async function purge(deps: ApiDeps, call: Call<unknown, z.output<typeof PurgeInput>>): Promise<Answer> {
  const { reason, filter: given, dryRun } = call.body
  const queueArn = queueOf(deps, call)
  const filter = given ? await letterFilterOf(deps, given) : reason ? { reason } : undefined
  if (dryRun || filter) {
    const { matched } = await deps.redrives.dryRun(queueArn, filter ?? {})
    if (dryRun) return ok({ discarded: 0, matched })
    if (matched > PURGED_AT_ONCE_MAX) return startPurge(deps, call, queueArn, filter ?? {})
  }
  const discarded = await (filter
    ? deps.queues.purgeDeadLetters(queueArn, filter)
    : deps.queues.purge(queueArn))
  deps.log.info({ requestId: call.requestId, queueArn, filter, discarded }, 'queue.purged')
  return ok({ discarded })
}

type LetterFilter = Awaited<ReturnType<typeof letterFilterOf>>

async function startPurge(
  deps: ApiDeps,
  { requestId }: Pick<Call, 'requestId'>,
  source: string,
  filter: LetterFilter,
): Promise<Answer> {
  const task = await deps.redrives.createPurge(source, filter)
  deps.log.info(
    { requestId, redriveId: task.id, queueArn: source, filter, matched: task.matched },
    'queue.purge_begun',
  )
  return { status: 202, body: redriveView(task) }
}
