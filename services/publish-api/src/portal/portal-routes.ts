/** All routes of portal sessions. If keys are not required, there are no sessions. */
import { isOf } from '@fantail/access'
import { nameOfArn, type SubscriptionRecord, topicArn } from '@fantail/contracts'
import {
  PortalEndpoint,
  PortalEndpointList,
  PortalEndpointReference,
  PortalTopicList,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { isWebhook, type PortalKey, portalKeyOf } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Endpoint, endpoint, ok } from '../http/endpoint.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { showSubscriptions } from '../subscriptions/subscription-views.ts'
import { portalEndpointRoutes } from './portal-endpoint-routes.ts'
import { portalHistoryRoutes } from './portal-history-routes.ts'
import { endpointView, showEndpoint } from './portal-views.ts'

export function portalRoutes(deps: ApiDeps): Endpoint[] {
  const routes = [...portalListRoutes(deps), ...portalEndpointRoutes(deps), ...portalHistoryRoutes(deps)]
  return routes.map((route) => ({
    ...route,
    errors: [...new Set([...(route.errors ?? []), 'not_supported' as const])],
  }))
}

/** @limit Topics that a portal session lists. Past it: the list says that it is not complete. */
const PORTAL_TOPICS_MAX = 100
/** @limit Endpoints that a portal session lists. Past it: the list says that it is not complete. */
const PORTAL_ENDPOINTS_SHOWN_MAX = 200

const TAG = 'Portal'
const PATH = '/v1/portal/endpoints'

function portalListRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listPortalTopics',
      method: 'GET',
      path: '/v1/portal/topics',
      tag: TAG,
      summary: 'List the topics of the portal session',
      description:
        'Names of topics to which it may add endpoints. Sessions for single subscriptions see none.',
      answers: { 200: { description: 'The names', schema: PortalTopicList } },
      handle: async ({ caller }) => {
        const { arns, complete } = await topicsOf(deps, portalKeyOf(caller))
        return ok({ topics: arns.map((arn) => nameOfArn(arn)), complete })
      },
    }),
    endpoint({
      id: 'listPortalEndpoints',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'List the endpoints of the portal session',
      description: 'Webhooks of its topics, or the subscriptions that it is for.',
      answers: { 200: { description: 'The endpoints', schema: PortalEndpointList } },
      handle: (call) => listEndpoints(deps, portalKeyOf(call.caller)),
    }),
    endpoint({
      id: 'getPortalEndpoint',
      method: 'GET',
      path: `${PATH}/{id}`,
      params: { id: PortalEndpointReference },
      tag: TAG,
      summary: 'Read an endpoint of the portal session',
      description: 'Shows its state and the deliveries that wait for it.',
      answers: { 200: { description: 'The endpoint', schema: PortalEndpoint } },
      errors: ['not_found'],
      handle: async ({ params }) =>
        ok(await showEndpoint(deps, await visibleSubscription(deps, params.id ?? ''))),
    }),
  ]
}

async function topicsOf(deps: ApiDeps, key: PortalKey): Promise<{ arns: string[]; complete: boolean }> {
  if (key.portal.subscriptions !== null) return { arns: [], complete: true }
  const place = { ...deps.settings.arn, account: key.account }
  const pages = await Promise.all(
    key.prefixes.map((prefix) =>
      deps.topics.list({ arnPrefix: topicArn(prefix, place), limit: PORTAL_TOPICS_MAX }),
    ),
  )
  const arns = [...new Set(pages.flatMap(({ items }) => items.map(({ arn }) => arn)))].filter((arn) =>
    isOf(key, arn),
  )
  const isCut = pages.some(({ nextCursor }) => nextCursor !== null) || arns.length > PORTAL_TOPICS_MAX
  return { arns: arns.slice(0, PORTAL_TOPICS_MAX), complete: !isCut }
}

async function listEndpoints(deps: ApiDeps, key: PortalKey): Promise<Answer> {
  const { records, complete } = await recordsOf(deps, key)
  const webhooks = records.filter(({ protocol, unsubscribed }) => isWebhook(protocol) && !unsubscribed)
  const shown = await showSubscriptions(deps, webhooks.slice(0, PORTAL_ENDPOINTS_SHOWN_MAX))
  return ok({
    endpoints: shown.map((view) => endpointView(view)),
    complete: complete && webhooks.length <= PORTAL_ENDPOINTS_SHOWN_MAX,
  })
}

type Records = Promise<{ records: SubscriptionRecord[]; complete: boolean }>

async function recordsOf(deps: ApiDeps, key: PortalKey): Records {
  const { subscriptions } = key.portal
  if (subscriptions !== null) {
    const found = await Promise.all([...subscriptions].map((id) => deps.subscriptions.getReadable(id)))
    // The key that made the link may have other prefixes by now.
    const records = found.flatMap((record) => (record && isOf(key, record.topicArn) ? [record] : []))
    return { records, complete: true }
  }
  const { arns, complete } = await topicsOf(deps, key)
  const limit = PORTAL_ENDPOINTS_SHOWN_MAX
  const pages = await Promise.all(arns.map((arn) => deps.subscriptions.list({ topicArn: arn, limit })))
  return {
    records: pages.flatMap(({ items }) => items),
    complete: complete && pages.every(({ nextCursor }) => nextCursor === null),
  }
}
