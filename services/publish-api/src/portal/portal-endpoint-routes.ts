/**
 * Endpoints as a portal session adds and changes them. `auth/portal-rules.ts` has checked that the session may see
 * them.
 */
import { FantailError, RECORDED_BODY_BYTES_MAX } from '@fantail/contracts'
import {
  NewPortalEndpointView,
  PortalEndpoint,
  PortalEndpointChange,
  PortalEndpointInput,
  PortalEndpointReference,
  PortalTestAnswer,
  PortalTestInput,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { NewWebhookKeyView } from '@fantail/contracts/schemas/subscriptions/webhook-key-schemas'
import type { z } from 'zod'
import { countUse, portalKeyOf } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, NO_CONTENT, ok } from '../http/endpoint.ts'
import { publicUrlFor } from '../http/origin.ts'
import {
  changeSettings,
  changeStatus,
  checkChangedTypes,
  deleteSubscription,
  visibleSubscription,
} from '../subscriptions/change.ts'
import { moveSubscription } from '../subscriptions/moves/move.ts'
import { newSubscriptionProblems } from '../subscriptions/subscribe.ts'
import { testSubscription } from '../subscriptions/test-attempt.ts'
import { createKey } from '../subscriptions/webhook-keys.ts'
import { addEndpoint } from './portal-addition.ts'
import { exampleOf } from './portal-event-types.ts'
import { codeOf, showEndpoint } from './portal-views.ts'
import { PortalError } from './portal-words.ts'

/** @limit Tests that a portal session makes in a minute. Past it: `rate_limited`. */
const PORTAL_TESTS_PER_MINUTE_MAX = 10

const TAG = 'Portal'
const PATH = '/v1/portal/endpoints'
const ONE = { path: `${PATH}/{id}`, params: { id: PortalEndpointReference }, tag: TAG } as const
const SHOWN = { 200: { description: 'The endpoint as it is now', schema: PortalEndpoint } }

export function portalEndpointRoutes(deps: ApiDeps): Endpoint[] {
  const action = (id: string, name: string, summary: string) => ({
    id,
    method: 'POST' as const,
    path: `${PATH}/{id}/${name}`,
    params: { id: PortalEndpointReference },
    tag: TAG as typeof TAG,
    summary,
    body: NoBody,
    bodyIs: 'optional' as const,
    errors: ['not_found' as const, 'wrong_state' as const, 'conflict' as const],
  })
  const changed = (status: 'paused' | 'active') => async (call: Call) =>
    ok(
      await showEndpoint(
        deps,
        await changeStatus(deps, { id: idOf(call), requestId: call.requestId }, status),
      ),
    )
  return [
    endpoint({
      id: 'addPortalEndpoint',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Add a webhook to a topic of the portal session',
      description:
        'Every request to it is signed, with the secret in the answer. Settings of requests cannot be given. A session may ' +
        'add 20 in an hour, and none to a topic with 50 subscriptions.',
      body: PortalEndpointInput,
      check: (body) => newSubscriptionProblems(deps, body),
      answers: {
        201: { description: 'The endpoint gets messages from now on', schema: NewPortalEndpointView },
      },
      errors: [
        'not_found',
        'quota_exceeded',
        'conflict',
        'subscription_exists',
        'rate_limited',
        'storage_full',
        'key_unavailable',
      ],
      handle: (call) => addEndpoint(deps, call),
    }),
    endpoint({
      ...ONE,
      id: 'changePortalEndpoint',
      method: 'PATCH',
      summary: 'Change the address, name, event types or rate of an endpoint',
      description:
        '`endpoint` moves it: what waits for it goes to the new address. If the endpoint had to confirm, the new address is ' +
        'asked first, and is `pendingEndpoint` until then. A filter of the service applies in addition to the event ' +
        'types, and its rate in addition to `maxPerSecond`.',
      body: PortalEndpointChange,
      answers: SHOWN,
      errors: [
        'not_found',
        'wrong_state',
        'conflict',
        'subscription_exists',
        'rate_limited',
        'storage_full',
        'key_unavailable',
      ],
      handle: (call) => changeEndpoint(deps, call),
    }),
    endpoint({
      ...ONE,
      id: 'deletePortalEndpoint',
      method: 'DELETE',
      summary: 'Delete an endpoint of the portal session',
      description: 'Deliveries that wait for it are discarded.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => removeEndpoint(deps, call),
    }),
    endpoint({
      ...action('pausePortalEndpoint', 'pause', 'Stop attempts at an endpoint'),
      description: 'New messages wait for it. Pausing a paused endpoint changes nothing.',
      answers: SHOWN,
      handle: changed('paused'),
    }),
    endpoint({
      ...action('resumePortalEndpoint', 'resume', 'Continue attempts at an endpoint'),
      description:
        'Waiting deliveries are attempted again. Resuming an active endpoint changes nothing. An endpoint without a key needs one first.',
      answers: SHOWN,
      handle: async (call) => {
        await refuseUnsigned(deps, call)
        return changed('active')(call)
      },
    }),
    endpoint({
      ...action('testPortalEndpoint', 'test', 'Send one test message to an endpoint'),
      description:
        'Also an example of an event type. Nothing is retried or counted. A session may make ten tests in a minute.',
      body: PortalTestInput,
      answers: { 200: { description: 'The attempt was made', schema: PortalTestAnswer } },
      errors: ['not_found', 'wrong_state', 'conflict', 'rate_limited'],
      handle: (call) => testEndpoint(deps, call),
    }),
    endpoint({
      ...action('rotatePortalKey', 'rotate-key', 'Make a new key for signatures of an endpoint'),
      description: 'Earlier keys still sign for a day. The secret is in this answer and in no other.',
      answers: { 201: { description: 'The key signs at once', schema: NewWebhookKeyView } },
      errors: ['not_found', 'not_supported', 'wrong_state', 'conflict', 'storage_full', 'key_unavailable'],
      handle: (call) => createKey(deps, call, {}),
    }),
  ]
}

/** A crash during an addition leaves a paused endpoint without a key. Its requests would not be signed. */
async function refuseUnsigned(deps: ApiDeps, call: Call): Promise<void> {
  const { status, webhookKeys } = await visibleSubscription(deps, idOf(call))
  // Without a vault there are no keys, and no additions.
  if (!deps.vault || status !== 'paused' || (webhookKeys?.length ?? 0) > 0) return
  throw new PortalError('wrong_state', 'Make a key for this endpoint first.')
}

type ChangeCall = Call<unknown, z.output<typeof PortalEndpointChange>>

async function changeEndpoint(deps: ApiDeps, call: ChangeCall): Promise<Answer> {
  const { endpoint: address, name, eventTypes, maxPerSecond } = call.body
  if (address !== undefined) return moveEndpoint(deps, call, address)
  await checkChangedTypes(deps, idOf(call), { eventTypes })
  const record = await changeSettings(deps, idOf(call), {
    ...(name !== undefined && { name }),
    ...(eventTypes !== undefined && { eventTypes }),
    ...(maxPerSecond !== undefined && { customerRate: maxPerSecond }),
  })
  const { requestId } = call
  deps.log.info(
    { requestId, subscriptionId: record.id, members: Object.keys(call.body) },
    'subscription.changed',
  )
  return ok(await showEndpoint(deps, record))
}

async function moveEndpoint(deps: ApiDeps, call: ChangeCall, address: string): Promise<Answer> {
  if (Object.keys(call.body).length > 1)
    throw FantailError.invalid('endpoint', 'must be the only member, as it moves the endpoint')
  const publicUrl = publicUrlFor(deps.settings, call)
  const moved = { endpoint: address, outbound: undefined, publicUrl }
  const record = await moveSubscription(deps, idOf(call), moved)
  const { id: subscriptionId, topicArn } = record
  deps.topicCache.forget(topicArn)
  const isPending = record.move != null
  deps.log.info({ requestId: call.requestId, subscriptionId, topicArn, isPending }, 'subscription.moved')
  return ok(await showEndpoint(deps, record))
}

/**
 * A record that cannot be read does not say whether it is a webhook. It is deleted only if the session is for this
 * subscription, because whoever made the link named it.
 */
async function removeEndpoint(deps: ApiDeps, { params, requestId, caller }: Call): Promise<Answer> {
  const id = params.id ?? ''
  const place = await deps.subscriptions.locate(id)
  if (!place) return NO_CONTENT
  const { topicArn } = place
  if (portalKeyOf(caller).portal.subscriptions === null) await deps.subscriptions.get(id)
  await deleteSubscription(deps, id)
  deps.topicCache.forget(topicArn)
  deps.log.info({ requestId, topicArn, subscriptionId: id }, 'subscription.deleted')
  return NO_CONTENT
}

async function testEndpoint(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof PortalTestInput>>,
): Promise<Answer> {
  const key = portalKeyOf(call.caller)
  await countUse(deps, key, { what: 'test', max: PORTAL_TESTS_PER_MINUTE_MAX, windowMs: 60_000 })
  const { eventType, example = 0 } = call.body
  const record = await visibleSubscription(deps, idOf(call))
  const given = eventType === undefined ? {} : await exampleOf(deps, record, { eventType, example })
  const { statusCode, durationMs, error, answer } = await testSubscription(deps, call, given)
  const text = answer?.body?.slice(0, RECORDED_BODY_BYTES_MAX) ?? null
  const view: z.input<typeof PortalTestAnswer> = {
    statusCode,
    durationMs,
    error: codeOf(error),
    answer: text,
  }
  return ok(view)
}
