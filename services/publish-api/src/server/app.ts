/**
 * The API as a Hono application over given dependencies. It opens nothing by itself, so tests can call `app.request()`.
 */
import { Hono } from 'hono'
import { awsRoutes } from '../aws/aws-routes.ts'
import { consoleRoutes, portalPageRoutes } from '../console/page-routes.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { answerOrigins } from '../http/answer-headers.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { docsRoutes } from '../openapi/docs-routes.ts'
import { portalRoutes } from '../portal/portal-routes.ts'
import { portalSessionRoutes } from '../portal/portal-session-routes.ts'
import { mailPageRoutes } from '../rest/kinds/mail-page-routes.ts'
import { platformEndpointRoutes } from '../rest/kinds/platform-endpoint-routes.ts'
import { platformApplicationRoutes } from '../rest/kinds/platform-routes.ts'
import { smsRoutes } from '../rest/kinds/sms-routes.ts'
import { suppressionRoutes } from '../rest/kinds/suppression-routes.ts'
import { attemptRoutes } from '../rest/messages/attempt-routes.ts'
import { contentSearchRoutes } from '../rest/messages/content-search-routes.ts'
import { directRoutes } from '../rest/messages/direct-routes.ts'
import { eventRoutes } from '../rest/messages/event-routes.ts'
import { keptRoutes } from '../rest/messages/kept-routes.ts'
import { messageRoutes } from '../rest/messages/message-routes.ts'
import { publishRoutes } from '../rest/messages/publish-routes.ts'
import { searchRoutes } from '../rest/messages/search-routes.ts'
import { letterRoutes } from '../rest/queues/letter-routes.ts'
import { pushConsumerRoutes } from '../rest/queues/push-consumer-routes.ts'
import { quarantineRoutes } from '../rest/queues/quarantine-routes.ts'
import { queueMessageRoutes } from '../rest/queues/queue-message-routes.ts'
import { namingTopics, queueRoutes } from '../rest/queues/queue-routes.ts'
import { redriveRoutes } from '../rest/queues/redrive-routes.ts'
import { auditRoutes } from '../rest/service/audit-routes.ts'
import { keyRoutes } from '../rest/service/key-routes.ts'
import { nameRoutes } from '../rest/service/name-routes.ts'
import { overviewRoutes } from '../rest/service/overview-routes.ts'
import { quotaRoutes } from '../rest/service/quota-routes.ts'
import {
  certificateRoutes,
  processRoutes,
  serviceRoutes,
  timeRoutes,
} from '../rest/service/service-routes.ts'
import { sessionListRoutes, sessionRoutes } from '../rest/service/session-routes.ts'
import { statsRoutes } from '../rest/service/stats-routes.ts'
import { bulkRoutes } from '../rest/topics/bulk-routes.ts'
import { eventTypeRoutes } from '../rest/topics/event-type-routes.ts'
import { laneRoutes } from '../rest/topics/lane-routes.ts'
import { deliveryPolicyRoutes, filterPolicyRoutes } from '../rest/topics/policy-routes.ts'
import { subscriptionActionRoutes } from '../rest/topics/subscription-action-routes.ts'
import { subscriptionRoutes } from '../rest/topics/subscription-routes.ts'
import { topicRoutes } from '../rest/topics/topic-routes.ts'
import { webhookKeyRoutes } from '../rest/topics/webhook-key-routes.ts'
import { FilterTrials } from '../subscriptions/filters.ts'
import { type App, type Bindings, mount } from './mount.ts'

export function createApp(deps: ApiDeps): App {
  const app: App = new Hono<{ Bindings: Bindings }>()
  const { corsOrigins } = deps.settings
  if (corsOrigins) app.use('/v1/*', answerOrigins(corsOrigins))
  const pages = [...consoleRoutes(deps), ...portalPageRoutes(deps)]
  mount(app, [...endpointsOf(deps), ...timeRoutes(deps), ...pages], deps)
  return app
}

/**
 * All routes except the files of console and portal, which programs do not use, and routes that only test stacks have.
 */
export function endpointsOf(deps: ApiDeps): Endpoint[] {
  const trials = new FilterTrials()
  const routes = [
    ...publishRoutes(deps),
    ...topicRoutes(deps),
    ...eventTypeRoutes(deps),
    ...subscriptionRoutes(deps),
    ...subscriptionActionRoutes(deps),
    ...webhookKeyRoutes(deps),
    ...laneRoutes(deps),
    ...bulkRoutes(deps),
    ...overviewRoutes(deps),
    ...statsRoutes(deps),
    ...nameRoutes(deps),
    ...processRoutes(deps),
    ...deliveryPolicyRoutes(deps),
    ...filterPolicyRoutes(deps, trials),
    ...keptRoutes(deps),
    ...messageRoutes(deps),
    ...attemptRoutes(deps),
    ...searchRoutes(deps),
    ...contentSearchRoutes(deps),
    ...eventRoutes(deps),
    ...directRoutes(deps),
    ...namingTopics(deps, [...queueRoutes(deps), ...queueMessageRoutes(deps), ...letterRoutes(deps, trials)]),
    ...pushConsumerRoutes(deps),
    ...redriveRoutes(deps),
    ...quarantineRoutes(deps),
    ...keyRoutes(deps),
    ...quotaRoutes(deps),
    ...sessionRoutes(deps),
    ...sessionListRoutes(deps),
    ...portalSessionRoutes(deps),
    ...portalRoutes(deps),
    ...auditRoutes(deps),
    ...platformApplicationRoutes(deps),
    ...platformEndpointRoutes(deps),
    ...suppressionRoutes(deps),
    ...mailPageRoutes(deps),
    ...smsRoutes(deps),
    ...serviceRoutes(deps),
    ...awsRoutes(deps),
    ...certificateRoutes(deps),
  ]
  return [...routes, ...docsRoutes(routes, deps.settings)]
}
