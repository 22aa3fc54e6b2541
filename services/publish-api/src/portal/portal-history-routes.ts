/** Attempts, dead letters and figures of an endpoint, as a portal session sees them. */
import { seesBodies } from '@fantail/access'
import { RECORDING_DEFAULT, type SubscriptionRecord } from '@fantail/contracts'
import { PortalEndpointReference } from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import {
  PortalAttemptList,
  PortalDeadLetterList,
  PortalRedriveAnswer,
  PortalRedriveInput,
  PortalStatsView,
} from '@fantail/contracts/schemas/portal/portal-message-schemas'
import type { WeekFigures } from '@fantail/store'
import type { z } from 'zod'
import { portalKeyOf } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { iso } from '../http/record-views.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { countLook, countResend } from './portal-message-routes.ts'
import { attemptView, letterView } from './portal-views.ts'

/** @limit Dead letters that a portal session sees of an endpoint. Past it: later ones are left out. */
const PORTAL_ROWS_MAX = 50
/** @limit Dead letters a second that a portal session sends again. Past it: they wait. */
const PORTAL_REDRIVE_PER_SECOND = 10

const PATH = '/v1/portal/endpoints/{id}'
const NO_FIGURES: WeekFigures = { at: [], delivered: [], failed: [], deadLettered: [], meanMs: [] }
const OF_ENDPOINT = { params: { id: PortalEndpointReference }, tag: 'Portal' } as const

export function portalHistoryRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      ...OF_ENDPOINT,
      id: 'listPortalAttempts',
      method: 'GET',
      path: `${PATH}/attempts`,
      summary: 'List recorded attempts at an endpoint',
      description:
        'Failed attempts, unless the topic records others. Answers of the endpoint need the scope bodies.',
      answers: { 200: { description: 'The attempts', schema: PortalAttemptList } },
      errors: ['not_found'],
      handle: (call) => listAttempts(deps, call),
    }),
    endpoint({
      ...OF_ENDPOINT,
      id: 'listPortalDeadLetters',
      method: 'GET',
      path: `${PATH}/dead-letters`,
      summary: 'List messages of an endpoint that could not be delivered',
      description:
        'Only dead letters of this endpoint. Without the scope bodies their texts are left out. A session may list 60 ' +
        'times in a minute.',
      answers: { 200: { description: 'The dead letters', schema: PortalDeadLetterList } },
      errors: ['not_found', 'rate_limited'],
      handle: (call) => listDeadLetters(deps, call),
    }),
    endpoint({
      ...OF_ENDPOINT,
      id: 'getPortalStats',
      method: 'GET',
      path: `${PATH}/stats`,
      summary: 'Read the figures of a week of an endpoint',
      description: 'By hour, up to now. A worker adds what it has counted once a minute.',
      answers: { 200: { description: 'The figures', schema: PortalStatsView } },
      errors: ['not_found'],
      handle: (call) => readStats(deps, call),
    }),
    endpoint({
      ...OF_ENDPOINT,
      id: 'redrivePortalEndpoint',
      method: 'POST',
      path: `${PATH}/redrive`,
      summary: 'Send all failed messages of an endpoint again',
      description:
        'At most ten a second. Answers at once; the redrive continues by itself. A redrive or purge that an API key starts ' +
        'ends it: letters that it has not sent yet stay. A session may start 60 in an hour, and count 60 times in a minute.',
      body: PortalRedriveInput,
      bodyIs: 'optional',
      answers: {
        200: { description: 'How many it would be (`dryRun`)', schema: PortalRedriveAnswer },
        202: { description: 'The redrive has begun', schema: PortalRedriveAnswer },
      },
      errors: ['not_found', 'redrive_active', 'rate_limited', 'storage_full'],
      handle: (call) => redrive(deps, call),
    }),
  ]
}

async function listAttempts(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const { id, topicArn, outbound } = await visibleSubscription(deps, params.id ?? '')
  const [topic, records] = await Promise.all([deps.topics.get(topicArn), deps.attempts.read(id)])
  if (!topic) throw notFound('subscription')
  const seen = { seesBodies: seesBodies(caller), isProxied: outbound?.proxy !== undefined }
  const view: z.input<typeof PortalAttemptList> = {
    recording: (topic.recordAttempts ?? RECORDING_DEFAULT) !== 'none',
    attempts: records.map((record) => attemptView(record, seen)),
  }
  return ok(view)
}

/** undefined: nothing has failed yet, the queue was deleted, or failed messages are discarded. */
async function presentQueueOf(deps: ApiDeps, record: SubscriptionRecord): Promise<string | undefined> {
  const queue = await letterQueueOf(deps, record)
  return queue !== undefined && (await deps.queues.get(queue)) ? queue : undefined
}

async function listDeadLetters(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  await countLook(deps, portalKeyOf(caller))
  const record = await visibleSubscription(deps, params.id ?? '')
  const queue = await presentQueueOf(deps, record)
  if (queue === undefined) return ok({ total: 0, deadLetters: [] })
  const [{ items }, { matched }] = await Promise.all([
    deps.queues.peek(queue, { subscription: record.arn, limit: PORTAL_ROWS_MAX }),
    deps.redrives.dryRun(queue, { subscription: record.arn }),
  ])
  const view: z.input<typeof PortalDeadLetterList> = {
    total: matched,
    deadLetters: items.map((message) => letterView(message, seesBodies(caller))),
  }
  return ok(view)
}

async function readStats(deps: ApiDeps, call: Call): Promise<Answer> {
  const { id } = await visibleSubscription(deps, idOf(call))
  const week = await deps.stats.week(id)
  const { at, ...figures } = week ?? NO_FIGURES
  const view: z.input<typeof PortalStatsView> = {
    stepSeconds: 3_600,
    kept: week !== null,
    at: at.map(iso),
    ...figures,
  }
  return ok(view)
}

type Input = z.output<typeof PortalRedriveInput>

async function redrive(deps: ApiDeps, call: Call<unknown, Input>): Promise<Answer> {
  const { dryRun = false } = call.body
  await (dryRun ? countLook : countResend)(deps, portalKeyOf(call.caller))
  const record = await visibleSubscription(deps, idOf(call))
  const matched = await sendFailed(deps, record, call)
  const view: z.input<typeof PortalRedriveAnswer> = {
    matched,
    maxMessagesPerSecond: PORTAL_REDRIVE_PER_SECOND,
  }
  return { status: dryRun ? 200 : 202, body: view }
}

/** Returns how many messages these are. Without a queue none has failed yet, or they are discarded. */
async function sendFailed(
  deps: ApiDeps,
  record: SubscriptionRecord,
  { body, requestId }: Call<unknown, Input>,
): Promise<number> {
  const since = body.since === undefined ? undefined : Date.parse(body.since)
  const source = await presentQueueOf(deps, record)
  if (source === undefined) return 0
  const filter = { subscription: record.arn, ...(since !== undefined && { since }) }
  if (body.dryRun) return (await deps.redrives.dryRun(source, filter)).matched
  const task = await deps.redrives.create({
    source,
    destination: null,
    maxMessagesPerSecond: PORTAL_REDRIVE_PER_SECOND,
    filter,
    startedBy: 'portal',
  })
  const { id: redriveId, matched } = task
  deps.log.info({ requestId, redriveId, source, matched }, 'redrive.created')
  return matched
}
