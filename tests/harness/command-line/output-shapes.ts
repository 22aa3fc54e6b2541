/**
 * The objects that `fantail` prints with `--json`: schemas of the API, and those that the command line adds. When the
 * modules of the first imports are loaded, they name their schemas.
 */
import '@fantail/contracts/schemas/access/key-schemas'
import '@fantail/contracts/schemas/access/quota-schemas'
import '@fantail/contracts/schemas/subscriptions/bulk-schemas'
import '@fantail/contracts/schemas/subscriptions/filter-policy-schemas'
import { EventTypeList } from '@fantail/contracts/schemas/event-type-schemas'
import '@fantail/contracts/schemas/mail-schemas'
import '@fantail/contracts/schemas/messages/attempt-schemas'
import '@fantail/contracts/schemas/messages/content-search-schemas'
import '@fantail/contracts/schemas/messages/delivery-schemas'
import '@fantail/contracts/schemas/messages/message-schemas'
import '@fantail/contracts/schemas/mobile-push-schemas'
import '@fantail/contracts/schemas/overview/name-schemas'
import '@fantail/contracts/schemas/quarantine-schemas'
import '@fantail/contracts/schemas/queues/letter-schemas'
import '@fantail/contracts/schemas/queues/queue-message-schemas'
import '@fantail/contracts/schemas/queues/queue-schemas'
import '@fantail/contracts/schemas/queues/queue-sending-schemas'
import '@fantail/contracts/schemas/queues/redrive-schemas'
import '@fantail/contracts/schemas/subscriptions/lane-list-schemas'
import '@fantail/contracts/schemas/subscriptions/subscription-action-schemas'
import '@fantail/contracts/schemas/subscriptions/subscription-schemas'
import '@fantail/contracts/schemas/subscriptions/webhook-key-schemas'
import { StateFile } from '@fantail/contracts/schemas/overview/state-schemas'
import '@fantail/contracts/schemas/topic-schemas'
import { EventView } from '@fantail/contracts/schemas/events/event-schemas'
import { namedSchemas } from '@fantail/contracts/schemas/shared-schemas'
import { z } from 'zod'

export interface Shape {
  /** Its text in the table: a name of the OpenAPI document, or the members. */
  text: string
  schema: z.ZodType
}

/** A schema of the OpenAPI document, by its name. */
export function ofApi(name: string): Shape {
  return { text: `\`${name}\``, schema: schemaOf(name) }
}

function schemaOf(name: string): z.ZodType {
  const schema = namedSchemas._idmap.get(name)
  if (!schema) throw new RangeError(`the OpenAPI document has no ${name}`)
  return schema as z.ZodType
}

/** An object of the command line itself. Other members than these are wrong. */
function own(members: Record<string, z.ZodType>): Shape {
  return { text: `\`{${Object.keys(members).join(', ')}}\``, schema: z.strictObject(members) }
}

/** A schema of the API with further members. */
function extended(name: string, members: Record<string, z.ZodType>): Shape {
  const schema = z.intersection(schemaOf(name), z.object(members))
  return { text: `\`${name}\` with \`${Object.keys(members).join('`, `')}\``, schema }
}

const text = z.string().min(1)
const count = z.int().min(0)
const settings = z.record(z.string(), z.unknown())
const answer = { statusCode: z.int().nullable(), error: text.nullable(), durationMs: count }
const side = z.enum(['aws', 'fantail', 'both', 'none'])

/** Members of the retry curve, from `previewRetries`. */
const retry = { retry: count, phase: text, delaySeconds: z.number().min(0), atSeconds: z.number().min(0) }

export const OWN = {
  deleted: own({ deleted: text }),
  addresses: own({
    url: z.url(),
    consoleUrl: z.url().nullable(),
    services: z.strictObject({ api: z.url(), worker: z.url(), redrive: z.url() }),
    redisUrl: text.nullable(),
    dataDir: text.nullable(),
  }),
  saved: own({ profile: text, url: z.url(), version: text }),
  whoami: own({
    profile: text.nullable(),
    url: z.url(),
    keyId: text.nullable(),
    version: text,
    status: text,
  }),
  eventType: { text: 'a member of `EventTypeList`', schema: EventTypeList.shape.eventTypes.element },
  source: own({ source: text }),
  profile: own({ profile: text, url: z.url(), hasKey: z.boolean(), current: z.boolean() }),
  used: own({ profile: text, url: z.url() }),
  publishedLine: extended('PublishReceipt', { line: z.int().min(1) }),
  triggered: extended('PublishReceipt', {
    event: z.strictObject({ id: text, type: text, createdAt: z.iso.datetime(), data: settings }),
  }),
  explained: own({
    message: schemaOf('Message'),
    deliveries: z.array(schemaOf('Delivery')),
    attempts: z.array(schemaOf('Attempt')).optional(),
  }),
  event: {
    text: '`DeliveryEvent` with `id`',
    schema: z.intersection(EventView, z.object({ id: text.nullable() })),
  },
  gap: own({
    type: z.literal('gap'),
    dropped: count.nullable(),
    from: text.nullable(),
    to: text.nullable(),
    why: z.enum(['rate', 'lag', 'trimmed', 'reconnect']),
  }),
  forwarded: own({
    at: z.iso.datetime(),
    messageId: text,
    topicArn: text,
    attempt: z.int().min(1),
    url: z.url(),
    ...answer,
  }),
  secret: own({ secret: text, profile: text.nullable(), url: z.url() }),
  replayed: own({ file: text, messageId: text.nullable(), url: z.url(), ...answer }),
  verified: own({ verified: z.literal(true) }),
  retry: own(retry),
  retryInOutage: own({ ...retry, afterOutage: z.boolean() }),
  finding: own({
    check: text,
    status: z.enum(['ok', 'warning', 'failed']),
    detail: text,
    fix: text.optional(),
  }),
  state: { text: '`{version, queues, topics}`', schema: StateFile },
  jsonSchema: { text: 'a JSON Schema', schema: z.looseObject({ $schema: z.url(), title: text }) },
  change: own({
    act: z.enum(['create', 'change', 'delete']),
    kind: z.enum(['queue', 'topic', 'eventType', 'subscription', 'secrets']),
    name: text,
    topic: text.optional(),
    id: text.optional(),
    settings,
    before: settings.optional(),
  }),
  unsubscribed: own({ unsubscribed: text }),
  deletedQueue: own({ deletedQueue: text }),
  bridged: own({ copied: count, repeated: count, own: count, refused: count, failed: count }),
  compared: own({
    topic: text,
    endpoint: text,
    subscriptionId: text,
    equal: z.boolean(),
    setting: text.nullable(),
    same: count,
    onlyAws: z.array(text),
    onlyFantail: z.array(text),
    differ: z.record(text, count),
    delayMs: z.strictObject({ aws: z.number().nullable(), fantail: z.number().nullable() }),
  }),
  cutoverPlan: own({
    topic: text,
    endpoint: text,
    subscriptionId: text,
    side,
    waiting: count,
    problem: text.nullable(),
  }),
  switched: own({
    topic: text,
    endpoint: text,
    subscriptionId: text,
    side,
    mayComeTwice: z.strictObject({ from: z.iso.datetime(), until: z.iso.datetime() }).nullable(),
  }),
  imported: own({
    matter: z.enum(['messages', 'access', 'requests', 'delivery', 'details']),
    what: z.enum(['lost', 'changed']),
    text,
    remedy: text.optional(),
    objects: z.array(text),
  }),
  curves: own({ subscriptions: count, sns: z.array(z.number()), fantail: z.array(z.number()) }),
} as const satisfies Record<string, Shape>
