/** Event types of topics as a portal session sees them. */
import { z } from 'zod'
import { EVENT_TYPES_MAX } from '../../limits.ts'
import { named } from '../shared-schemas.ts'

const summary = {
  name: z.string().describe('Name of the event type.'),
  description: z.string().nullable().describe('Its meaning for people; null: none is given.'),
  deprecated: z.boolean().describe('Whether the type will go.'),
}
const SUMMARY = { name: 'order.paid', description: 'An order was paid.', deprecated: false }

export const PortalEventTypeList = named(
  'PortalEventTypeList',
  z
    .object({
      eventTypes: z
        .array(z.object(summary))
        .describe(`All event types of the topic, sorted by name: at most ${EVENT_TYPES_MAX}.`),
    })
    .meta({ description: 'Event types that endpoints can choose.', examples: [{ eventTypes: [SUMMARY] }] }),
)

export const PortalEventTypeView = named(
  'PortalEventType',
  z
    .object({
      ...summary,
      version: z.int().nullable().describe('Number of the schema; null: the type has none.'),
      schema: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('JSON Schema of draft 2020-12 for the message; null: the type has none.'),
      examples: z.array(z.unknown()).describe('Messages of this type.'),
    })
    .meta({
      description: 'A type of messages, with its schema and examples.',
      examples: [{ ...SUMMARY, version: 2, schema: { type: 'object' }, examples: [{ id: 'o-1' }] }],
    }),
)
