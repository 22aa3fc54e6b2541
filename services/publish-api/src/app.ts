/**
 * The API as a Hono application over given dependencies. It opens nothing by itself, so tests can call `app.request()`.
 */
import { Hono } from 'hono'
import { attemptRoutes } from './attempts/attempt-routes.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { consoleRoutes } from './console/console-routes.ts'
import type { ApiDeps } from './deps.ts'
import { directRoutes } from './direct/direct-routes.ts'
import { eventRoutes } from './events/event-routes.ts'
import { answerOrigins } from './http/cross-origin.ts'
import type { Endpoint } from './http/endpoint.ts'
import { type App, type Bindings, mount } from './http/mount.ts'
import { keptRoutes } from './kept/kept-routes.ts'
import { keyRoutes } from './keys/key-routes.ts'
import { laneRoutes } from './lanes/lane-routes.ts'
import { mailPageRoutes } from './mail/mail-page-routes.ts'
import { suppressionRoutes } from './mail/suppression-routes.ts'
import { messageRoutes } from './messages/message-routes.ts'
import { publishRoutes } from './messages/publish-routes.ts'
import { searchRoutes } from './messages/search-routes.ts'
import { overviewRoutes } from './overview/overview-routes.ts'
import { portalPageRoutes } from './portal/portal-page-routes.ts'
import { portalRoutes } from './portal/portal-routes.ts'
import { portalSessionRoutes } from './portal/portal-session-routes.ts'
import { processRoutes } from './processes/process-routes.ts'
import { platformEndpointRoutes } from './push/platform-endpoint-routes.ts'
import { platformApplicationRoutes } from './push/platform-routes.ts'
import { quarantineRoutes } from './quarantine/quarantine-routes.ts'
import { consumerRoutes } from './queues/consumer-routes.ts'
import { queueMessageRoutes } from './queues/queue-message-routes.ts'
import { queueRoutes } from './queues/queue-routes.ts'
import { namingTopics } from './queues/unmade-queues.ts'
import { letterRoutes } from './redrives/letter-routes.ts'
import { redriveRoutes } from './redrives/redrive-routes.ts'
import { awsRoutes } from './routes/aws.ts'
import { certificateRoutes } from './routes/certificates.ts'
import { deliveryPolicyRoutes } from './routes/delivery-policies.ts'
import { docsRoutes } from './routes/docs.ts'
import { filterPolicyRoutes } from './routes/filter-policies.ts'
import { FilterTrials } from './routes/filter-trials.ts'
import { serviceRoutes } from './routes/service.ts'
import { sessionListRoutes } from './sessions/session-list-routes.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { smsRoutes } from './sms/sms-routes.ts'
import { statsRoutes } from './stats/stats-routes.ts'
import { subscriptionActionRoutes } from './subscriptions/subscription-actions.ts'
import { subscriptionRoutes } from './subscriptions/subscription-routes.ts'
import { webhookKeyRoutes } from './subscriptions/webhook-key-routes.ts'
import { timeRoutes } from './time/time-routes.ts'
import { topicRoutes } from './topics/topic-routes.ts'

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
    ...subscriptionRoutes(deps),
    ...subscriptionActionRoutes(deps),
    ...webhookKeyRoutes(deps),
    ...laneRoutes(deps),
    ...overviewRoutes(deps),
    ...statsRoutes(deps),
    ...processRoutes(deps),
    ...deliveryPolicyRoutes(deps),
    ...filterPolicyRoutes(deps, trials),
    ...keptRoutes(deps),
    ...messageRoutes(deps),
    ...attemptRoutes(deps),
    ...searchRoutes(deps),
    ...eventRoutes(deps),
    ...directRoutes(deps),
    ...namingTopics(deps, [...queueRoutes(deps), ...queueMessageRoutes(deps), ...letterRoutes(deps, trials)]),
    ...consumerRoutes(deps),
    ...redriveRoutes(deps),
    ...quarantineRoutes(deps),
    ...keyRoutes(deps),
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
