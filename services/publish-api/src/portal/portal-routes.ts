/** All routes of portal sessions. If keys are not required, there are no sessions. */
import { Cursors, isOf } from '@fantail/access'
import { nameOfArn, topicArn } from '@fantail/contracts'
import {
  PortalEndpoint,
  PortalEndpointList,
  PortalEndpointQuery,
  PortalEndpointReference,
  PortalTopicList,
} from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { type PortalKey, portalKeyOf } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Endpoint, endpoint, idOf, ok } from '../http/endpoint.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { portalEndpointRoutes } from './portal-endpoint-routes.ts'
import { portalEventTypeRoutes } from './portal-event-types.ts'
import { portalHistoryRoutes } from './portal-history-routes.ts'
import { listEndpoints } from './portal-lists.ts'
import { portalMessageRoutes } from './portal-message-routes.ts'
import { showEndpoint } from './portal-views.ts'
import { inPortalWords } from './portal-words.ts'

export function portalRoutes(deps: ApiDeps): Endpoint[] {
  const cursors = new Cursors(deps.keys)
  const routes = [
    ...portalListRoutes(deps, cursors),
    ...portalEventTypeRoutes(deps),
    ...portalEndpointRoutes(deps),
    ...portalMessageRoutes(deps, cursors),
    ...portalHistoryRoutes(deps),
  ]
  return routes.map((route) => ({
    ...route,
    errors: [...new Set([...(route.errors ?? []), 'not_supported' as const])],
    inWords: inPortalWords,
  }))
}

/** @limit Topics that a portal session lists. Past it: the list says that it is not complete. */
const PORTAL_TOPICS_MAX = 100

const TAG = 'Portal'
const PATH = '/v1/portal/endpoints'

function portalListRoutes(deps: ApiDeps, cursors: Cursors): Endpoint[] {
  return [
    endpoint({
      id: 'listPortalTopics',
      method: 'GET',
      path: '/v1/portal/topics',
      tag: TAG,
      summary: 'List the topics of the portal session',
      description:
        'Names of topics to which it may add endpoints. For a session for single subscriptions, the topics of these.',
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
      description:
        'Webhooks of its topics, or the subscriptions that it is for. Conditions of the query must all hold. With them a ' +
        'page may be short or empty and still have a cursor.',
      query: PortalEndpointQuery,
      answers: { 200: { description: 'A page', schema: PortalEndpointList } },
      handle: ({ caller, query }) => listEndpoints(deps, { key: portalKeyOf(caller), query, cursors }),
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
      handle: async (call) => ok(await showEndpoint(deps, await visibleSubscription(deps, idOf(call)))),
    }),
  ]
}

interface Topics {
  arns: string[]
  complete: boolean
}

async function topicsOf(deps: ApiDeps, key: PortalKey): Promise<Topics> {
  const { subscriptions } = key.portal
  if (subscriptions !== null) return topicsOfIds(deps, key, subscriptions)
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

async function topicsOfIds(deps: ApiDeps, key: PortalKey, ids: ReadonlySet<string>): Promise<Topics> {
  const found = await Promise.all([...ids].map((id) => deps.subscriptions.getReadable(id)))
  const arns = found.flatMap((record) => (record && isOf(key, record.topicArn) ? [record.topicArn] : []))
  return { arns: [...new Set(arns)].sort(), complete: true }
}
