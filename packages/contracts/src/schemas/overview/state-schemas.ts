/**
 * The file of `fantail apply` and `fantail export`: queues, and topics with event types and subscriptions. Their
 * settings are those of the routes, so this schema needs no change if a setting is added.
 */
import { z } from 'zod'
import { EventTypeInput } from '../event-type-schemas.ts'
import { QueueInput } from '../queues/queue-schemas.ts'
import { NewSubscriptionInput } from '../subscriptions/subscription-schemas.ts'
import { TopicInput } from '../topic-schemas.ts'

const name = z.string().min(1)

const QueueState = z.strictObject({
  name: name.describe('Name of the queue; FIFO queues end in `.fifo`.'),
  settings: QueueInput.optional(),
})

const EventTypeState = z.strictObject({
  name: name.describe('Name of the event type, such as `order.paid`.'),
  settings: EventTypeInput.optional(),
})

const SubscriptionState = z.strictObject({
  endpoint: name.describe('Where messages go: a URL, an ARN, a mail address or a phone number.'),
  name: name
    .nullish()
    .describe('Name for people. It distinguishes subscriptions of one topic with the same endpoint.'),
  // Answers mask the secrets of `outbound`, so a file could never equal a server that has some.
  settings: NewSubscriptionInput.omit({
    ...{ endpoint: true, name: true, outbound: true },
    // A file cannot make an endpoint confirm.
    confirmation: true,
  }).optional(),
})

const TopicState = z.strictObject({
  name: name.describe('Name of the topic; FIFO topics end in `.fifo`.'),
  settings: TopicInput.optional(),
  eventTypes: z
    .array(EventTypeState)
    .optional()
    .describe('The catalogue of the topic. Left out: it stays as it is.'),
  subscriptions: z.array(SubscriptionState).describe('Subscriptions of the topic.'),
})

export const StateFile = z
  .strictObject({
    $schema: z.string().optional().describe('The address of this schema, for editors.'),
    version: z.literal(1).describe('The version of the file’s form.'),
    queues: z.array(QueueState).describe('Queues, such as dead-letter queues.'),
    topics: z.array(TopicState).describe('Topics with their subscriptions.'),
  })
  .meta({
    title: 'A file of `fantail apply`',
    description: 'Queues, topics and subscriptions of a server. Settings that are left out stay as they are.',
  })

/** The schema for editors. Draft 7 is the newest that all of them know. */
export function stateJsonSchema(): object {
  return z.toJSONSchema(StateFile, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
}
