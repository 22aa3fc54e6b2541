import { principalOf } from '@fantail/access'
import { parseArn, resolveTopic, type SubscriptionRecord } from '@fantail/contracts'
import { SubscriptionReference, TopicReference } from '@fantail/contracts/schemas/shared-schemas'
import {
  EndpointCheckAnswer,
  EndpointCheckInput,
} from '@fantail/contracts/schemas/subscriptions/endpoint-check-schemas'
import {
  NewSubscriptionInput,
  SUBSCRIPTION_FIXED,
  SubscriptionInput,
  SubscriptionList,
  SubscriptionListQuery,
  SubscriptionView,
  TopicSubscriptionListQuery,
} from '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import { hideCredentials } from '@fantail/delivery'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, idOf, NO_CONTENT, ok } from '../../http/endpoint.ts'
import { invalid, notFound } from '../../http/error-answers.ts'
import { publicUrlFor } from '../../http/origin.ts'
import {
  changeSettings,
  checkChangedTypes,
  deleteSubscription,
  visibleSubscription,
} from '../../subscriptions/change.ts'
import { endpointProblems } from '../../subscriptions/check-endpoints.ts'
import { moveSubscription } from '../../subscriptions/moves/move.ts'
import {
  newSubscriptionProblems,
  provideDeadLetterQueue,
  subscribeNatively,
} from '../../subscriptions/subscribe.ts'
import {
  orderingProblems,
  type SubscriptionSettings,
  settingsOf,
} from '../../subscriptions/subscription-settings.ts'
import { showSubscription, showSubscriptions } from '../../subscriptions/subscription-views.ts'

const WRITE_ERRORS = ['not_found', 'wrong_state', 'storage_full'] as const

export function subscriptionRoutes(deps: ApiDeps): Endpoint[] {
  const tag = 'Subscriptions' as const
  const ofTopic = { path: '/v1/topics/{topic}/subscriptions', params: { topic: TopicReference }, tag }
  const one = { path: '/v1/subscriptions/{id}', params: { id: SubscriptionReference }, tag }
  return [
    endpoint({
      ...ofTopic,
      id: 'subscribe',
      method: 'POST',
      summary: 'Subscribe a webhook or a queue to a topic',
      description:
        'A topic has one subscription per endpoint. If you subscribe an endpoint again, the answer is 200 with the existing ' +
        'subscription if the given settings agree with it, else 409. A pending one is then asked to confirm once more.',
      body: NewSubscriptionInput,
      check: (body) => newSubscriptionProblems(deps, body),
      answers: {
        200: {
          description: 'The subscription that has this endpoint already. The given settings agree with it.',
          schema: SubscriptionView,
        },
        201: { description: 'Subscribed', schema: SubscriptionView },
      },
      errors: [
        ...WRITE_ERRORS,
        'quota_exceeded',
        'subscription_exists',
        'conflict',
        'rate_limited',
        'key_unavailable',
      ],
      handle: (call) => postSubscription(deps, call),
    }),
    endpoint({
      ...ofTopic,
      id: 'listTopicSubscriptions',
      method: 'GET',
      summary: 'List the subscriptions of a topic',
      description:
        'Each with its settings and the state of its lane. Answers 404 if the topic does not exist.',
      query: TopicSubscriptionListQuery,
      answers: { 200: { description: 'A page', schema: SubscriptionList } },
      errors: ['not_found'],
      handle: async ({ params, query }) => {
        const topic = resolveTopic(params.topic ?? '', deps.settings.arn)
        if ((await deps.topics.get(topic)) === null) throw notFound('topic')
        return listSubscriptions(deps, { ...query, topic })
      },
    }),
    endpoint({
      id: 'listSubscriptions',
      method: 'GET',
      path: '/v1/subscriptions',
      tag,
      summary: 'List subscriptions',
      description:
        'Subscriptions of all topics that the caller may see. Conditions of the query must all hold.',
      query: SubscriptionListQuery,
      answers: { 200: { description: 'A page', schema: SubscriptionList } },
      handle: ({ query }) => listSubscriptions(deps, query),
    }),
    endpoint({
      id: 'checkEndpoints',
      method: 'POST',
      path: '/v1/endpoints/check',
      tag,
      summary: 'Check whether endpoints could be subscribed',
      description:
        'Says which endpoints this server would refuse, and which setting it lacks for them. Nothing is made or sent.',
      body: EndpointCheckInput,
      answers: { 200: { description: 'A problem or null for each', schema: EndpointCheckAnswer } },
      handle: async ({ body }) => ok({ problems: await endpointProblems(deps, body.endpoints) }),
    }),
    endpoint({
      ...one,
      id: 'getSubscription',
      method: 'GET',
      summary: 'Read a subscription and the state of its lane',
      description:
        'Shows settings, the delivery policy in force, and how many deliveries wait or are in flight.',
      answers: { 200: { description: 'The subscription', schema: SubscriptionView } },
      errors: ['not_found'],
      handle: async (call) => ok(await showSubscription(deps, await visibleSubscription(deps, idOf(call)))),
    }),
    endpoint({
      ...one,
      id: 'updateSubscription',
      method: 'PATCH',
      summary: 'Set the given members of a subscription',
      description:
        'Members that are left out stay as they are; null resets one. Protocol and confirmation cannot be changed. A ' +
        'changed filter acts on every message that is dispatched after the answer.\n\n`endpoint` moves the subscription: its ' +
        'id, keys, policies and waiting deliveries stay. Its circuit, last error and pace are reset. If the new endpoint must ' +
        'confirm, the old one stays until then. The request to confirm is repeated by the retry policy, and by ' +
        '`sendConfirmation`. For another origin, headers, client certificate and credentials of the URL must be given again.',
      body: SubscriptionInput,
      fixed: SUBSCRIPTION_FIXED,
      answers: { 200: { description: 'The subscription as it is now', schema: SubscriptionView } },
      errors: [...WRITE_ERRORS, 'conflict', 'subscription_exists', 'rate_limited', 'key_unavailable'],
      handle: (call) => patchSubscription(deps, call),
    }),
    endpoint({
      ...one,
      id: 'deleteSubscription',
      method: 'DELETE',
      summary: 'Delete a subscription',
      description: 'Deliveries that wait for it are discarded and counted. Deleting again answers the same.',
      answers: { 204: { description: 'Gone, or there was none' } },
      handle: (call) => removeSubscription(deps, call),
    }),
  ]
}

async function postSubscription(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof NewSubscriptionInput>>,
): Promise<Answer> {
  const { params, body, requestId, caller } = call
  const topicArn = resolveTopic(params.topic ?? '', deps.settings.arn)
  const publicUrl = publicUrlFor(deps.settings, call)
  const { subscription, created, warning } = await subscribeNatively(deps, {
    topicArn,
    input: body,
    publicUrl,
    ...(caller && { principal: principalOf(caller) }),
  })
  if (created) {
    const { id: subscriptionId, protocol, status } = subscription
    deps.topicCache.forget(topicArn)
    deps.log.info({ requestId, topicArn, subscriptionId, protocol, status }, 'subscription.created')
  }
  return { status: created ? 201 : 200, body: await withWarning(deps, subscription, warning) }
}

async function listSubscriptions(
  deps: ApiDeps,
  { topic, endpoint: address, status, name, metadata, cursor, limit }: z.output<typeof SubscriptionListQuery>,
): Promise<Answer> {
  const { items, nextCursor } = await deps.subscriptions.list({
    limit,
    ...(topic !== undefined && { topicArn: resolveTopic(topic, deps.settings.arn) }),
    ...(address !== undefined && { endpoint: await hideCredentials(address) }),
    ...(status !== undefined && { status }),
    ...(name !== undefined && { name }),
    ...(metadata !== undefined && { metadata: memberOf(metadata) }),
    ...(cursor !== undefined && { cursor }),
  })
  return ok({ subscriptions: await showSubscriptions(deps, items), nextCursor })
}

/** Keys have no colon; values may. */
function memberOf(text: string): { key: string; value: string } {
  const colon = text.indexOf(':')
  return { key: text.slice(0, colon), value: text.slice(colon + 1) }
}

async function patchSubscription(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof SubscriptionInput>>,
): Promise<Answer> {
  const { body, requestId } = call
  if (body.endpoint !== undefined) return patchEndpoint(deps, call, body.endpoint)
  const given = settingsOf(body, deps.settings)
  await checkDeadLetterQueue(deps, call, given)
  const warning = await checkChangedTypes(deps, idOf(call), given)
  const record = await changeSettings(deps, idOf(call), given, body.outbound)
  if (given.redrivePolicy !== undefined) await releaseDead(deps, record.id)
  deps.log.info({ requestId, subscriptionId: record.id, members: Object.keys(body) }, 'subscription.changed')
  return ok(await withWarning(deps, record, warning))
}

async function withWarning(
  deps: ApiDeps,
  record: SubscriptionRecord,
  warning: string | undefined,
): Promise<object> {
  const view = await showSubscription(deps, record)
  return warning === undefined ? view : { ...view, warning }
}

async function patchEndpoint(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof SubscriptionInput>>,
  endpoint: string,
): Promise<Answer> {
  const { endpoint: _, outbound, ...others } = call.body
  const wrong = Object.keys(others).map((path) => ({
    path,
    message: 'cannot be given together with endpoint',
  }))
  if (wrong.length > 0) throw invalid(wrong)
  const publicUrl = publicUrlFor(deps.settings, call)
  const record = await moveSubscription(deps, idOf(call), { endpoint, outbound, publicUrl })
  const { id: subscriptionId, topicArn } = record
  deps.topicCache.forget(topicArn)
  const isPending = record.move != null
  deps.log.info({ requestId: call.requestId, subscriptionId, topicArn, isPending }, 'subscription.moved')
  return ok(await showSubscription(deps, record))
}

async function checkDeadLetterQueue(
  deps: ApiDeps,
  call: Call<unknown, z.output<typeof SubscriptionInput>>,
  { redrivePolicy }: Partial<SubscriptionSettings>,
): Promise<void> {
  if (!redrivePolicy) return
  const record = await visibleSubscription(deps, idOf(call))
  const problems = orderingProblems({ ...record, redrivePolicy })
  if (problems.length > 0) throw invalid(problems)
  await provideDeadLetterQueue(deps, { redrivePolicy, createQueue: call.body.redrivePolicy?.createQueue })
}

/** Deliveries that waited for the earlier dead-letter queue are due at once. */
async function releaseDead({ subscriptions, lanes }: ApiDeps, id: string): Promise<void> {
  const place = await subscriptions.locate(id)
  if (place) await lanes.releaseDead(place.shard, id)
}

async function removeSubscription(deps: ApiDeps, call: Call): Promise<Answer> {
  const id = parseArn(call.params.id ?? '')?.subscriptionId ?? call.params.id ?? ''
  await deleteSubscription(deps, id)
  deps.log.info({ requestId: call.requestId, subscriptionId: id }, 'subscription.deleted')
  return NO_CONTENT
}
