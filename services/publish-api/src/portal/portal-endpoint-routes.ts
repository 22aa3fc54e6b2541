/**
 * Endpoints as a portal session sees and changes them. `auth/native-rules.ts` has checked that the session may see
 * them.
 */
import { principalOf } from '@fantail/access'
import { FantailError } from '@fantail/contracts'
import {
  PortalEndpoint,
  PortalEndpointInput,
  PortalEndpointReference,
  PortalTestAnswer,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { NoBody } from '@fantail/contracts/schemas/shared-schemas'
import { NewWebhookKeyView } from '@fantail/contracts/schemas/subscriptions/webhook-key-schemas'
import type { z } from 'zod'
import { countUse, portalKeyOf, portalTopicArn } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, NO_CONTENT, ok } from '../http/endpoint.ts'
import { publicUrlFor } from '../http/origin.ts'
import { changeStatus, deleteSubscription } from '../subscriptions/change.ts'
import { newSubscriptionProblems, subscribeNatively } from '../subscriptions/subscribe.ts'
import { testSubscription } from '../subscriptions/test-attempt.ts'
import { createKey } from '../subscriptions/webhook-keys.ts'
import { codeOf, showEndpoint } from './portal-views.ts'

/** @limit Subscriptions of a topic to which a portal session may add one. Past it: `conflict`. */
const PORTAL_TOPIC_SUBSCRIPTIONS_MAX = 50
/** @limit Endpoints that a portal session adds in an hour. Past it: `rate_limited`. */
const PORTAL_ADDS_PER_HOUR_MAX = 20
/** @limit Tests that a portal session makes in a minute. Past it: `rate_limited`. */
const PORTAL_TESTS_PER_MINUTE_MAX = 10

const TAG = 'Portal'
const PATH = '/v1/portal/endpoints'
const SHOWN = { 200: { description: 'The endpoint as it is now', schema: PortalEndpoint } }
type AddCall = Call<unknown, z.output<typeof PortalEndpointInput>>

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
    ok(await showEndpoint(deps, await changeStatus(deps, call, status)))
  return [
    endpoint({
      id: 'addPortalEndpoint',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Add a webhook to a topic of the portal session',
      description:
        'Settings of requests cannot be given. A session may add 20 in an hour, and none to a topic with 50 subscriptions.',
      body: PortalEndpointInput,
      check: (body) => newSubscriptionProblems(deps, body),
      answers: { 201: { description: 'The endpoint gets messages from now on', schema: PortalEndpoint } },
      errors: ['not_found', 'conflict', 'subscription_exists', 'rate_limited', 'storage_full'],
      handle: (call) => addEndpoint(deps, call),
    }),
    endpoint({
      id: 'deletePortalEndpoint',
      method: 'DELETE',
      path: `${PATH}/{id}`,
      params: { id: PortalEndpointReference },
      tag: TAG,
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
      description: 'Waiting deliveries are attempted again. Resuming an active endpoint changes nothing.',
      answers: SHOWN,
      handle: changed('active'),
    }),
    endpoint({
      ...action('testPortalEndpoint', 'test', 'Send one test message to an endpoint'),
      description:
        'Nothing is retried or counted. The answer has the status alone. A session may make ten tests in a minute.',
      answers: { 200: { description: 'The attempt was made', schema: PortalTestAnswer } },
      errors: ['not_found', 'wrong_state', 'conflict', 'rate_limited'],
      handle: (call) => testEndpoint(deps, call),
    }),
    endpoint({
      ...action('rotatePortalKey', 'rotate-key', 'Make a new key for signatures of an endpoint'),
      description: 'Earlier keys still sign for a day. The secret is in this answer and in no other.',
      answers: { 201: { description: 'The key signs at once', schema: NewWebhookKeyView } },
      errors: ['not_found', 'not_supported', 'wrong_state', 'conflict', 'storage_full'],
      handle: (call) => createKey(deps, call, {}),
    }),
  ]
}

async function addEndpoint(deps: ApiDeps, call: AddCall): Promise<Answer> {
  const key = portalKeyOf(call.caller)
  const arn = portalTopicArn(deps, key, call.body.topic)
  await countUse(deps, key, { what: 'add', max: PORTAL_ADDS_PER_HOUR_MAX, windowMs: 3_600_000 })
  const existing = await deps.subscriptions.list({ topicArn: arn, limit: PORTAL_TOPIC_SUBSCRIPTIONS_MAX })
  if (existing.items.length >= PORTAL_TOPIC_SUBSCRIPTIONS_MAX) {
    throw new FantailError(
      'conflict',
      `the topic has ${PORTAL_TOPIC_SUBSCRIPTIONS_MAX} subscriptions already`,
    )
  }
  const { topic: _, ...input } = call.body
  const publicUrl = publicUrlFor(deps.settings, call)
  const { subscription, created } = await subscribeNatively(deps, {
    topicArn: arn,
    input,
    publicUrl,
    principal: principalOf(key),
  })
  // The operator may have made this endpoint, so its settings must not be shown.
  if (!created) throw new FantailError('conflict', 'the topic has this endpoint already')
  deps.topicCache.forget(arn)
  const { id: subscriptionId, protocol, status } = subscription
  deps.log.info(
    { requestId: call.requestId, topicArn: arn, subscriptionId, protocol, status },
    'subscription.created',
  )
  return { status: 201, body: await showEndpoint(deps, subscription) }
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

async function testEndpoint(deps: ApiDeps, call: Call): Promise<Answer> {
  const key = portalKeyOf(call.caller)
  await countUse(deps, key, { what: 'test', max: PORTAL_TESTS_PER_MINUTE_MAX, windowMs: 60_000 })
  const { statusCode, durationMs, error } = await testSubscription(deps, call, {})
  const view: z.input<typeof PortalTestAnswer> = { statusCode, durationMs, error: codeOf(error) }
  return ok(view)
}
