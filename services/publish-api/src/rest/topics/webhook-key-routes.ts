/** Routes of a subscription's Standard Webhooks keys. Their signatures are sent in addition to SNS's. */
import { SubscriptionReference } from '@fantail/contracts/schemas/shared-schemas'
import {
  NewWebhookKeyView,
  WebhookKeyInput,
  WebhookKeyList,
} from '@fantail/contracts/schemas/subscriptions/webhook-key-schemas'
import { passingTime } from '@fantail/store'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Endpoint, endpoint, idOf, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { visibleSubscription } from '../../subscriptions/change.ts'
import { createKey, dropWebhookKeys, keyView, signing } from '../../subscriptions/webhook-keys.ts'

export function webhookKeyRoutes(deps: ApiDeps): Endpoint[] {
  const route = {
    path: '/v1/subscriptions/{id}/webhook-keys',
    params: { id: SubscriptionReference },
    tag: 'Subscriptions' as const,
  }
  return [
    endpoint({
      ...route,
      id: 'createWebhookKey',
      method: 'POST',
      summary: 'Sign a subscription’s requests by Standard Webhooks, or rotate the key',
      description:
        'Requests then carry `webhook-id`, `webhook-timestamp` and `webhook-signature`. Earlier keys still sign together ' +
        'with the new one for `overlapSeconds`. The secret is in this answer and in no other.',
      body: WebhookKeyInput,
      bodyIs: 'optional',
      answers: { 201: { description: 'Made; it signs at once', schema: NewWebhookKeyView } },
      errors: ['not_supported', 'not_found', 'wrong_state', 'conflict', 'storage_full', 'key_unavailable'],
      handle: (call) => createKey(deps, call, call.body),
    }),
    endpoint({
      ...route,
      id: 'listWebhookKeys',
      method: 'GET',
      summary: 'List the keys that sign now, newest first',
      description: 'Each request carries one signature per key. Keys whose overlap is over are left out.',
      answers: { 200: { description: 'The keys, without secrets', schema: WebhookKeyList } },
      errors: ['not_found'],
      handle: async (call) => {
        const { webhookKeys = [] } = await visibleSubscription(deps, idOf(call))
        return ok({ webhookKeys: signing(webhookKeys, passingTime.realOf(deps.clock())).map(keyView) })
      },
    }),
    endpoint({
      ...route,
      id: 'deleteWebhookKeys',
      method: 'DELETE',
      summary: 'Sign no more, and forget the keys',
      description:
        'All keys go at once, without an overlap. SNS’s own signatures of a topic are not affected.',
      answers: { 204: { description: 'There are none any more' } },
      errors: ['not_found', 'conflict'],
      handle: async (call) => {
        const { id: subscriptionId } = await visibleSubscription(deps, idOf(call))
        await dropWebhookKeys(deps, subscriptionId)
        deps.log.info({ requestId: call.requestId, subscriptionId }, 'subscription.webhook_keys_dropped')
        return NO_CONTENT
      },
    }),
  ]
}
