/** Adds an endpoint for a customer. It is signed from its first request on. */
import { principalOf } from '@fantail/access'
import type {
  NewPortalEndpointView,
  PortalEndpointInput,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import type { z } from 'zod'
import { countUse, portalKeyOf, portalTopicArn } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Answer, Call } from '../http/endpoint.ts'
import { publicUrlFor } from '../http/origin.ts'
import { subscribeNatively } from '../subscriptions/subscribe.ts'
import { firstWebhookKey } from '../subscriptions/webhook-keys.ts'
import { showEndpoint } from './portal-views.ts'
import { PortalError } from './portal-words.ts'

/** @limit Subscriptions of a topic to which a portal session may add one. Past it: `conflict`. */
const PORTAL_TOPIC_SUBSCRIPTIONS_MAX = 50
/** @limit Endpoints that a portal session adds in an hour. Past it: `rate_limited`. */
const PORTAL_ADDS_PER_HOUR_MAX = 20

type AddCall = Call<unknown, z.output<typeof PortalEndpointInput>>

/**
 * A key is sealed with the subscription's id, which is known only afterwards. So the subscription is created paused,
 * and its key resumes it. A crash in between leaves a paused endpoint. The customer can delete it, or make a key and
 * resume it.
 */
export async function addEndpoint(deps: ApiDeps, call: AddCall): Promise<Answer> {
  const key = portalKeyOf(call.caller)
  const { topic, maxPerSecond = null, ...given } = call.body
  // Customers get bodies as the examples and schemas of the event types show them.
  const input = { ...given, rawMessageDelivery: true }
  const topicArn = portalTopicArn(deps, key, topic)
  // Without a vault this throws before anything is stored.
  firstWebhookKey(deps, '')
  await countUse(deps, key, { what: 'add', max: PORTAL_ADDS_PER_HOUR_MAX, windowMs: 3_600_000 })
  await refuseFullTopic(deps, topicArn)
  const publicUrl = publicUrlFor(deps.settings, call)
  const by = { publicUrl, principal: principalOf(key), status: 'paused' as const }
  const { subscription, created } = await subscribeNatively(deps, { topicArn, input, ...by })
  // The operator may have made this endpoint, so its settings must not be shown.
  if (!created) throw new PortalError('subscription_exists', 'An endpoint with this address exists already.')
  const { id: subscriptionId, protocol } = subscription
  const { key: webhookKey, secret } = firstWebhookKey(deps, subscriptionId)
  const record = await deps.subscriptions.update(subscriptionId, () => ({
    webhookKeys: [webhookKey],
    customerRate: maxPerSecond,
    status: 'active',
  }))
  deps.topicCache.forget(topicArn)
  const { requestId } = call
  deps.log.info({ requestId, topicArn, subscriptionId, protocol, status: 'active' }, 'subscription.created')
  const view: z.input<typeof NewPortalEndpointView> = { ...(await showEndpoint(deps, record)), secret }
  return { status: 201, body: view }
}

async function refuseFullTopic({ subscriptions }: ApiDeps, topicArn: string): Promise<void> {
  const { items } = await subscriptions.list({ topicArn, limit: PORTAL_TOPIC_SUBSCRIPTIONS_MAX })
  if (items.length >= PORTAL_TOPIC_SUBSCRIPTIONS_MAX)
    throw new PortalError('conflict', 'No more endpoints can be added to this topic.')
}
