/**
 * Rights of portal sessions. Portal sessions may call the routes in this table and no others. Only portal sessions may
 * call these routes. Each route checks the names with the session's own rights, which are never more than those of the
 * key behind it.
 */
import type { Target } from '@fantail/access'
import { FantailError, parseMessageId, type SubscriptionRecord } from '@fantail/contracts'
import { readEndpoint } from '@fantail/policy'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, NO_CONTENT } from '../http/endpoint.ts'
import { invalid, Unseen } from '../http/error-answers.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'
import { isWebhook, portalKeyOf, portalTopicArn, portalTopicInPath } from './portal-caller.ts'
import type { RouteRule } from './route-rule.ts'
import { subscribing } from './targets.ts'

const OTHERS_QUEUE = 'dead letters of this endpoint are in a queue that this session may not see'

/** Checks the topic of the subscription, that the subscription is a webhook, and that the session may see it. */
const onEndpoint =
  (action: string) =>
  async (call: Call, deps: ApiDeps): Promise<Target[]> => {
    needNamed(call)
    const record = await deps.subscriptions.get(idOf(call))
    if (!record || !isWebhook(record.protocol)) throw new Unseen('subscription')
    return onShown(action, record)
  }

/** The same for a deletion, also if the record cannot be read. The route decides then. */
async function onDeleted(call: Call, deps: ApiDeps): Promise<Target[]> {
  needNamed(call, NO_CONTENT)
  const place = await deps.subscriptions.locate(idOf(call))
  const record = place && (await deps.subscriptions.getReadable(idOf(call)))
  if (!place || (record && !isWebhook(record.protocol))) throw new Unseen('subscription', NO_CONTENT)
  return onShown('Unsubscribe', place, NO_CONTENT)
}

/**
 * A session for single subscriptions may see no others. It is refused before anything is read, so that the time of a
 * refusal is the same for ids that exist and others.
 */
function needNamed(call: Call, unknown?: Answer): void {
  const { portal } = portalKeyOf(call.caller)
  if (portal.subscriptions !== null && !portal.subscriptions.has(idOf(call)))
    throw new Unseen('subscription', unknown)
}

/** The id in the path, or '' if it is none. */
function idOf({ params }: Call): string {
  const id = params.id ?? ''
  return parseMessageId(id) ? id : ''
}

function onShown(
  action: string,
  { topicArn }: Pick<SubscriptionRecord, 'topicArn'>,
  unknown?: Answer,
): Target[] {
  const error = new Unseen('subscription', unknown)
  return [
    { action: `SNS:${action}`, arn: topicArn, hidden: { error, sees: 'SNS:GetSubscriptionAttributes' } },
  ]
}

/** Also checks the queue with its dead letters, as for a key. */
const onLetters =
  (action: string) =>
  async (call: Call, deps: ApiDeps): Promise<Target[]> => {
    const targets = await onEndpoint('GetSubscriptionAttributes')(call, deps)
    const record = await deps.subscriptions.get(call.params.id ?? '')
    const arn = record ? await letterQueueOf(deps, record) : undefined
    if (arn === undefined) return targets
    return [...targets, { action, arn, hidden: { error: new FantailError('forbidden', OTHERS_QUEUE) } }]
  }

/** A policy may say which endpoints a topic may have, also for one that moves. */
async function onMoved(call: Call, deps: ApiDeps): Promise<Target[]> {
  const targets = await onEndpoint('SetSubscriptionAttributes')(call, deps)
  const { endpoint } = call.body as { endpoint?: string }
  const record = endpoint === undefined ? null : await deps.subscriptions.get(idOf(call))
  const address = record && readEndpoint(endpoint ?? '', record.protocol, deps.settings.arn)
  if (!record || !address || 'path' in address) return targets
  return [...targets, subscribing(record.topicArn, address)]
}

/** A topic of the session. Others answer as if there were none. */
async function onOwnTopic(call: Call, deps: ApiDeps): Promise<Target[]> {
  const arn = portalTopicInPath(deps, call)
  const error = new Unseen('topic')
  const { subscriptions } = portalKeyOf(call.caller).portal
  if (subscriptions !== null) {
    const found = await Promise.all([...subscriptions].map((id) => deps.subscriptions.getReadable(id)))
    if (!found.some((record) => record?.topicArn === arn)) throw error
  }
  return [{ action: 'SNS:GetTopicAttributes', arn, hidden: { error } }]
}

function addedTo({ body, caller }: Call, deps: ApiDeps): Target[] {
  const key = portalKeyOf(caller)
  if (key.portal.subscriptions !== null)
    throw new FantailError('forbidden', 'this session is for single subscriptions and can add none')
  const { topic, endpoint } = body as { topic: string; endpoint: string }
  const address = readEndpoint(endpoint, undefined, deps.settings.arn)
  if ('path' in address) throw invalid([address])
  return [subscribing(portalTopicArn(deps, key, topic), { ...address, endpoint })]
}

type Targets = NonNullable<RouteRule['targets']>
const reading = (targets: Targets): RouteRule => ({ need: ['read'], portal: true, targets })
const changing = (scope: 'manage' | 'redrive', targets: Targets): RouteRule => ({
  need: [scope],
  portal: true,
  change: true,
  targets,
})
const setting = changing('manage', onEndpoint('SetSubscriptionAttributes'))
const endpoints = '/v1/portal/endpoints'

export const PORTAL_RULES: Record<string, RouteRule> = {
  'GET /v1/portal/session': { need: 'any', portal: true },
  'DELETE /v1/portal/session': { need: 'any', portal: true, change: true },
  'GET /v1/portal/topics': { need: ['read'], portal: true },
  'GET /v1/portal/topics/{topic}/event-types': reading(onOwnTopic),
  'GET /v1/portal/topics/{topic}/event-types/{name}': reading(onOwnTopic),
  // The handlers list only things that the session may see.
  [`GET ${endpoints}`]: { need: ['read'], portal: true },
  [`POST ${endpoints}`]: changing('manage', addedTo),
  [`GET ${endpoints}/{id}`]: reading(onEndpoint('GetSubscriptionAttributes')),
  [`PATCH ${endpoints}/{id}`]: changing('manage', onMoved),
  [`DELETE ${endpoints}/{id}`]: changing('manage', onDeleted),
  [`POST ${endpoints}/{id}/pause`]: setting,
  [`POST ${endpoints}/{id}/resume`]: setting,
  [`POST ${endpoints}/{id}/test`]: setting,
  [`POST ${endpoints}/{id}/rotate-key`]: setting,
  [`GET ${endpoints}/{id}/messages`]: reading(onEndpoint('GetSubscriptionAttributes')),
  [`GET ${endpoints}/{id}/messages/{messageId}`]: reading(onEndpoint('GetSubscriptionAttributes')),
  [`POST ${endpoints}/{id}/messages/{messageId}/resend`]: changing(
    'redrive',
    onLetters('SQS:StartMessageMoveTask'),
  ),
  [`GET ${endpoints}/{id}/stats`]: reading(onEndpoint('GetSubscriptionAttributes')),
  [`GET ${endpoints}/{id}/attempts`]: reading(onEndpoint('GetSubscriptionAttributes')),
  [`GET ${endpoints}/{id}/dead-letters`]: reading(onLetters('SQS:ReceiveMessage')),
  [`POST ${endpoints}/{id}/redrive`]: changing('redrive', onLetters('SQS:StartMessageMoveTask')),
}
