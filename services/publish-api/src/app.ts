/** The API as a Hono application over what it is given; it opens nothing by itself, so tests call `app.request()`. */
import { Hono } from 'hono'
import type { ApiDeps } from './deps.ts'
import type { Endpoint } from './http/endpoint.ts'
import { type App, type Bindings, mount } from './http/mount.ts'
import { awsRoutes } from './routes/aws.ts'
import { certificateRoutes } from './routes/certificates.ts'
import { consumerRoutes } from './routes/consumers.ts'
import { deliveryPolicyRoutes } from './routes/delivery-policies.ts'
import { docsRoutes } from './routes/docs.ts'
import { filterPolicyRoutes } from './routes/filter-policies.ts'
import { keyRoutes } from './routes/keys.ts'
import { messageRoutes } from './routes/messages.ts'
import { publishRoutes } from './routes/publish.ts'
import { quarantineRoutes } from './routes/quarantine.ts'
import { queueMessageRoutes } from './routes/queue-messages.ts'
import { queueRoutes } from './routes/queues.ts'
import { redriveRoutes } from './routes/redrives.ts'
import { serviceRoutes } from './routes/service.ts'
import { subscriptionActionRoutes } from './routes/subscription-actions.ts'
import { subscriptionRoutes } from './routes/subscriptions.ts'
import { topicRoutes } from './routes/topics.ts'
import { webhookKeyRoutes } from './routes/webhook-keys.ts'

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
    ...queueRoutes(deps),
    ...queueMessageRoutes(deps),
    ...consumerRoutes(deps),
    ...redriveRoutes(deps),
    ...quarantineRoutes(deps),
    ...keyRoutes(deps),
    ...serviceRoutes(deps),
    ...awsRoutes(deps),
    ...certificateRoutes(deps),
  ]
  return [...routes, ...docsRoutes(routes, deps.settings)]
}
