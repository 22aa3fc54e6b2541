/** Event types of the topics of a portal session, and their examples as tests. */
import { FantailError, type SubscriptionRecord } from '@fantail/contracts'
import { EventTypeReference } from '@fantail/contracts/schemas/event-type-schemas'
import { PortalTopicReference } from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import {
  PortalEventTypeList,
  PortalEventTypeView,
} from '@fantail/contracts/schemas/portal/portal-event-type-schemas'
import type { z } from 'zod'
import { portalTopicInPath } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { eventTypeSummary, eventTypeView } from '../event-types/event-type-views.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'

const PATH = '/v1/portal/topics/{topic}/event-types'
const TAG = 'Portal'

export function portalEventTypeRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listPortalEventTypes',
      method: 'GET',
      path: PATH,
      params: { topic: PortalTopicReference },
      tag: TAG,
      summary: 'List the event types of a topic of the portal session',
      description: 'The types of the catalogue, which an endpoint of the topic can choose.',
      answers: { 200: { description: 'The event types', schema: PortalEventTypeList } },
      errors: ['not_found'],
      handle: (call) => listTypes(deps, call),
    }),
    endpoint({
      id: 'getPortalEventType',
      method: 'GET',
      path: `${PATH}/{name}`,
      params: { topic: PortalTopicReference, name: EventTypeReference },
      tag: TAG,
      summary: 'Read an event type of a topic of the portal session',
      description: 'Shows its newest schema, and its examples.',
      answers: { 200: { description: 'The event type', schema: PortalEventTypeView } },
      errors: ['not_found'],
      handle: (call) => readType(deps, call),
    }),
  ]
}

async function listTypes(deps: ApiDeps, call: Call): Promise<Answer> {
  const records = await deps.eventTypes.list(portalTopicInPath(deps, call))
  const view: z.input<typeof PortalEventTypeList> = {
    eventTypes: records.map((record) => {
      const { name, description, deprecated } = eventTypeSummary(record)
      return { name, description, deprecated }
    }),
  }
  return ok(view)
}

async function readType(deps: ApiDeps, call: Call): Promise<Answer> {
  const record = await deps.eventTypes.get(portalTopicInPath(deps, call), call.params.name ?? '')
  if (!record) throw notFound('event type')
  const { name, description, deprecated, version, schema, examples } = eventTypeView(record)
  const view: z.input<typeof PortalEventTypeView> = {
    name,
    description,
    deprecated,
    version,
    schema,
    examples,
  }
  return ok(view)
}

interface Example {
  eventType: string
  example: number
}

/** An example of a type as the message of a test. Throws `validation_failed` if there is none. */
export async function exampleOf(
  { eventTypes }: Pick<ApiDeps, 'eventTypes'>,
  { topicArn }: SubscriptionRecord,
  { eventType, example }: Example,
): Promise<{ message: unknown; attributes: Record<string, string> }> {
  const record = await eventTypes.get(topicArn, eventType)
  if (!record) throw FantailError.invalid('eventType', 'names no event type of the topic')
  const text = record.examples[example]
  if (text === undefined) throw FantailError.invalid('example', 'names no example of the event type')
  return { message: JSON.parse(text), attributes: { eventType } }
}
