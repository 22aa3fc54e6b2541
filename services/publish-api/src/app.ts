/**
 * The API as a Hono application over given dependencies. It opens nothing by itself, so tests can call `app.request()`.
 */
import { Hono } from 'hono'
import type { ApiDeps } from './deps.ts'
import type { Endpoint } from './http/endpoint.ts'
import { type App, type Bindings, mount } from './http/mount.ts'
import { keyRoutes } from './keys/key-routes.ts'
import { mailPageRoutes } from './mail/mail-page-routes.ts'
import { suppressionRoutes } from './mail/suppression-routes.ts'
import { messageRoutes } from './messages/message-routes.ts'
import { publishRoutes } from './messages/publish-routes.ts'
import { platformEndpointRoutes } from './push/platform-endpoint-routes.ts'
import { platformApplicationRoutes } from './push/platform-routes.ts'
import { quarantineRoutes } from './quarantine/quarantine-routes.ts'
import { consumerRoutes } from './queues/consumer-routes.ts'
import { queueMessageRoutes } from './queues/queue-message-routes.ts'
import { queueRoutes } from './queues/queue-routes.ts'
import { namingTopics } from './queues/unmade-queues.ts'
import { redriveRoutes } from './redrives/redrive-routes.ts'
import { awsRoutes } from './routes/aws.ts'
import { certificateRoutes } from './routes/certificates.ts'
import { deliveryPolicyRoutes } from './routes/delivery-policies.ts'
import { docsRoutes } from './routes/docs.ts'
import { filterPolicyRoutes } from './routes/filter-policies.ts'
import { serviceRoutes } from './routes/service.ts'
import { smsRoutes } from './sms/sms-routes.ts'
import { subscriptionActionRoutes } from './subscriptions/subscription-actions.ts'
import { subscriptionRoutes } from './subscriptions/subscription-routes.ts'
import { webhookKeyRoutes } from './subscriptions/webhook-key-routes.ts'
import { topicRoutes } from './topics/topic-routes.ts'

export function createApp(deps: ApiDeps): App {
  const app: App = new Hono<{ Bindings: Bindings }>()
  mount(app, endpointsOf(deps), deps)
  return app
}

/** Every route there is. */
export function endpointsOf(deps: ApiDeps): Endpoint[] {
  const routes = [
    ...publishRoutes(deps),
    ...topicRoutes(deps),
    ...subscriptionRoutes(deps),
    ...subscriptionActionRoutes(deps),
    ...webhookKeyRoutes(deps),
    ...deliveryPolicyRoutes(deps),
    ...filterPolicyRoutes(),
    ...messageRoutes(deps),
    ...namingTopics(deps, [...queueRoutes(deps), ...queueMessageRoutes(deps)]),
    ...consumerRoutes(deps),
    ...redriveRoutes(deps),
    ...quarantineRoutes(deps),
    ...keyRoutes(deps),
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
