/** Deliveries and dead letters of an endpoint, as a portal session sees them. */
import { isVisible, seesBodies } from '@fantail/access'
import { FantailError, RECORDING_DEFAULT } from '@fantail/contracts'
import {
  PortalAttemptList,
  PortalDeadLetterList,
  PortalDeliveryList,
  PortalEndpointReference,
  PortalRedriveAnswer,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { placeOfSubscription } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { isoOrNull } from '../http/record-views.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { attemptView, deliveryView, letterView } from './portal-views.ts'

/** @limit Deliveries, and dead letters, that a portal session sees of an endpoint. Past it: older ones are left out. */
const PORTAL_ROWS_MAX = 50
/** @limit Dead letters a second that a portal session sends again. Past it: they wait. */
const PORTAL_REDRIVE_PER_SECOND = 10

const PATH = '/v1/portal/endpoints/{id}'
const OF_ENDPOINT = { params: { id: PortalEndpointReference }, tag: 'Portal' } as const

export function portalHistoryRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      ...OF_ENDPOINT,
      id: 'listPortalDeliveries',
      method: 'GET',
      path: `${PATH}/deliveries`,
      summary: 'List the results of the latest messages at an endpoint',
      description: 'From the outcome log, newest first. `scannedTo` says how far the search looked.',
      answers: { 200: { description: 'The deliveries', schema: PortalDeliveryList } },
      errors: ['not_found'],
      handle: (call) => listDeliveries(deps, call),
    }),
    endpoint({
      ...OF_ENDPOINT,
      id: 'listPortalAttempts',
      method: 'GET',
      path: `${PATH}/attempts`,
      summary: 'List recorded attempts at an endpoint',
      description:
        'Attempts are listed if the topic records them. Answers of the endpoint need the scope bodies.',
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
      description: 'Only dead letters of this endpoint. Without the scope bodies their texts are left out.',
      answers: { 200: { description: 'The dead letters', schema: PortalDeadLetterList } },
      errors: ['not_found'],
      handle: (call) => listDeadLetters(deps, call),
    }),
    endpoint({
      ...OF_ENDPOINT,
      id: 'redrivePortalEndpoint',
      method: 'POST',
      path: `${PATH}/redrive`,
      summary: 'Send all dead letters of an endpoint again',
      description:
        'At most ten a second. Answers at once; the redrive continues by itself. A redrive or purge that an API key starts ' +
        'ends it: letters that it has not sent yet stay.',
      body: NoBody,
      bodyIs: 'optional',
      answers: { 202: { description: 'The redrive has begun', schema: PortalRedriveAnswer } },
      errors: ['not_found', 'redrive_active', 'storage_full'],
      handle: (call) => redrive(deps, call),
    }),
  ]
}

async function listDeliveries(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const record = await visibleSubscription(deps, params.id ?? '')
  const place = placeOfSubscription(record.id)
  if (!place) throw notFound('subscription')
  const { id, bit, departures } = record
  const found = await deps.search.find({
    subscription: { id, sliceId: place.sliceId, bit, departures },
    limit: PORTAL_ROWS_MAX,
    isVisible: (arn) => arn !== null && isVisible(caller, arn),
  })
  const view: z.input<typeof PortalDeliveryList> = {
    deliveries: found.messages.map(deliveryView),
    scannedTo: isoOrNull(found.scannedTo),
  }
  return ok(view)
}

async function listAttempts(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const { id, topicArn } = await visibleSubscription(deps, params.id ?? '')
  const [topic, records] = await Promise.all([deps.topics.get(topicArn), deps.attempts.read(id)])
  if (!topic) throw notFound('subscription')
  const view: z.input<typeof PortalAttemptList> = {
    recording: (topic.recordAttempts ?? RECORDING_DEFAULT[deps.settings.mode]) !== 'none',
    attempts: records.map((record) => attemptView(record, seesBodies(caller))),
  }
  return ok(view)
}

async function listDeadLetters(deps: ApiDeps, { params, caller }: Call): Promise<Answer> {
  const record = await visibleSubscription(deps, params.id ?? '')
  const queue = await letterQueueOf(deps, record)
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

async function redrive(deps: ApiDeps, { params, requestId }: Call): Promise<Answer> {
  const record = await visibleSubscription(deps, params.id ?? '')
  const source = await letterQueueOf(deps, record)
  if (source === undefined) throw new FantailError('not_found', 'the endpoint has no dead letters')
  const task = await deps.redrives.create({
    source,
    destination: null,
    maxMessagesPerSecond: PORTAL_REDRIVE_PER_SECOND,
    filter: { subscription: record.arn },
    startedBy: 'portal',
  })
  const { id: redriveId, matched } = task
  deps.log.info({ requestId, redriveId, source, matched }, 'redrive.created')
  const view: z.input<typeof PortalRedriveAnswer> = {
    matched,
    maxMessagesPerSecond: PORTAL_REDRIVE_PER_SECOND,
  }
  return { status: 202, body: view }
}
