/** Messages to an endpoint, with their attempts, as a portal session sees them and sends them again. */

import { type Cursors, seesBodies } from '@fantail/access'
import { eventTypeOf } from '@fantail/contracts'
import { MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { PortalEndpointReference } from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import {
  PortalMessageList,
  PortalMessageQuery,
  PortalMessageView,
  PortalResendAnswer,
} from '@fantail/contracts/schemas/portal/portal-message-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { textForProtocol } from '@fantail/delivery'
import type { z } from 'zod'
import { countUse, type PortalKey, portalKeyOf } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, ok } from '../http/endpoint.ts'
import { iso } from '../http/record-views.ts'
import { resendOne } from '../kept/resend.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { listMessages, ownMessage, storedText } from './portal-messages.ts'
import { attemptView } from './portal-views.ts'

/** Looks of a portal session at single messages and whole queues in a minute. Past it: `rate_limited`. */
const PORTAL_LOOKS_PER_MINUTE_MAX = 60
/** @limit Messages, or redrives, that a portal session sends again in an hour. Past it: `rate_limited`. */
const PORTAL_RESENDS_PER_HOUR_MAX = 60

const PATH = '/v1/portal/endpoints/{id}/messages'
const OF_ENDPOINT = { params: { id: PortalEndpointReference }, tag: 'Portal' } as const
const ONE = { params: { id: PortalEndpointReference, messageId: MessageReference }, tag: 'Portal' } as const

export function portalMessageRoutes(deps: ApiDeps, cursors: Cursors): Endpoint[] {
  return [
    endpoint({
      ...OF_ENDPOINT,
      id: 'listPortalMessages',
      method: 'GET',
      path: PATH,
      summary: 'List the latest messages to an endpoint',
      description:
        'From the outcome log, newest first. A page may be short or empty and still have a cursor. `scannedTo` says how far ' +
        'it looked.',
      query: PortalMessageQuery,
      answers: { 200: { description: 'A part of the messages', schema: PortalMessageList } },
      errors: ['not_found'],
      handle: (call) => listMessages(deps, cursors, call),
    }),
    endpoint({
      ...ONE,
      id: 'getPortalMessage',
      method: 'GET',
      path: `${PATH}/{messageId}`,
      summary: 'Read a message to an endpoint, with its attempts',
      description:
        'Only messages that were sent to this endpoint. Text and answers need the scope bodies. A session may read 60 in a ' +
        'minute.',
      answers: { 200: { description: 'The message', schema: PortalMessageView } },
      errors: ['not_found', 'rate_limited', 'key_unavailable'],
      handle: (call) => readMessage(deps, call),
    }),
    endpoint({
      ...ONE,
      id: 'resendPortalMessage',
      method: 'POST',
      path: `${PATH}/{messageId}/resend`,
      summary: 'Send a message to an endpoint again',
      description:
        'Only messages that were sent to this endpoint before, and whose text is stored. A session may send 60 in an hour.',
      body: NoBody,
      bodyIs: 'optional',
      answers: { 202: { description: 'It is on its way', schema: PortalResendAnswer } },
      errors: ['not_found', 'body_gone', 'wrong_state', 'redrive_active', 'rate_limited', 'storage_full'],
      handle: (call) => resend(deps, call),
    }),
  ]
}

async function readMessage(deps: ApiDeps, call: Call): Promise<Answer> {
  const key = portalKeyOf(call.caller)
  await countLook(deps, key)
  const record = await visibleSubscription(deps, idOf(call))
  const messageId = call.params.messageId ?? ''
  const own = await ownMessage(deps, record, messageId)
  const stored = await storedText(deps, record, own)
  const seen = { seesBodies: seesBodies(key), isProxied: record.outbound?.proxy !== undefined }
  const view: z.input<typeof PortalMessageView> = {
    messageId,
    publishedAt: iso(own.publishedAt),
    state: own.state,
    eventType: eventTypeOf(stored?.attributes) ?? null,
    body: stored && seen.seesBodies ? textForProtocol(stored, record.protocol) : null,
    canResend: stored !== undefined && record.status !== 'pending',
    attempts: own.attempts.map((attempt) => attemptView(attempt, seen)),
  }
  return ok(view)
}

/** Counts what reads the outcome log, or a whole queue. Throws `rate_limited`. */
export async function countLook(deps: ApiDeps, key: PortalKey): Promise<void> {
  await countUse(deps, key, { what: 'look', max: PORTAL_LOOKS_PER_MINUTE_MAX, windowMs: 60_000 })
}

export async function countResend(deps: ApiDeps, key: PortalKey): Promise<void> {
  await countUse(deps, key, { what: 'resend', max: PORTAL_RESENDS_PER_HOUR_MAX, windowMs: 3_600_000 })
}

/** A dead letter leaves its queue, so that the endpoint does not get it twice. */
async function resend(deps: ApiDeps, call: Call): Promise<Answer> {
  await countResend(deps, portalKeyOf(call.caller))
  const record = await visibleSubscription(deps, idOf(call))
  const messageId = call.params.messageId ?? ''
  const { letter } = await ownMessage(deps, record, messageId)
  if (letter) {
    await deps.storageGuard.admit()
    const { queue: source, itemId } = letter
    await deps.redrives.createSingle({ source, destination: null, itemId, startedBy: 'portal' })
    deps.log.info({ requestId: call.requestId, messageId, subscriptionId: record.id }, 'message.resent')
  } else {
    await resendOne(deps, { ...call, body: { subscription: record.id } }, messageId)
  }
  return { status: 202, body: { messageId } }
}
