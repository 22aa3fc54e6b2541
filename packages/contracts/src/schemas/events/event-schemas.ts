/** Live events: messages and deliveries as they change. */
import { z } from 'zod'
import { DELIVERY_CAUSES, type DeliveryCause } from '../../delivery-causes.ts'
import { ATTEMPT_DECISIONS } from '../../recording.ts'
import {
  named,
  SubscriptionReference,
  Timestamp,
  TimestampInput,
  TopicReference,
  timestamp,
} from '../shared-schemas.ts'
import { SUBSCRIPTION_EXAMPLE } from '../subscriptions/subscription-schemas.ts'

/** Read from the outcome log. After a new connection, a listener continues after the last event that it got. */
export const LOGGED_EVENTS = ['parked', 'delivered', 'deadLettered', 'discarded', 'expired'] as const

/** Sent only while a listener is connected, and never stored. */
export const UNLOGGED_EVENTS = ['published', 'attempt', 'redriven', 'changed'] as const
export type UnloggedEventType = (typeof UNLOGGED_EVENTS)[number]

export const EVENT_TYPES = [...LOGGED_EVENTS, ...UNLOGGED_EVENTS] as const
export type EventType = (typeof EVENT_TYPES)[number]

/**
 * Why events are missing from a stream. rate: more came in a second than `max` allows. lag: the listener reads too
 * slowly, or Redis could not be reached. trimmed: the outcome log no longer has them. reconnect: they came while the
 * listener was not connected, and are not stored.
 */
export type GapCause = 'rate' | 'lag' | 'trimmed' | 'reconnect'

/**
 * Why a stream ended. stopping: the server stops. revoked: the key or session has ended, or may no longer see the
 * events. slow: nothing was read for a minute.
 */
export type EndOfEvents = 'stopping' | 'revoked' | 'slow'

/**
 * @limit Events that one listener may ask for in a second. Past it: the request is refused.
 */
const EVENTS_PER_SECOND_MAX = 1_000
/** Default of the events that a listener gets in a second. Past it: the rest is counted in `gap`. */
const EVENTS_PER_SECOND_DEFAULT = 200
/** @limit Statuses that one listener may ask for. Past it: the request is refused. */
const STATUSES_MAX = 20

const STATUS = /^([1-5]\d\d|[1-5]xx|none)$/
const TYPES = new Set<string>(EVENT_TYPES)

const TypeList = z
  .string()
  .transform((text) => text.split(','))
  .refine((types) => types.every((type) => TYPES.has(type)), {
    error: `must be a list, by commas, of ${EVENT_TYPES.join(', ')}`,
  })
  .transform((types) => types as EventType[])

const StatusList = z
  .string()
  .transform((text) => text.split(','))
  .refine((list) => list.length <= STATUSES_MAX && list.every((status) => STATUS.test(status)), {
    error: `must be a list, by commas, of at most ${STATUSES_MAX} statuses like 503, 5xx or none`,
  })

export const EventsQuery = z.strictObject({
  topic: TopicReference.optional().describe('Only events of this topic, by its name or ARN.'),
  subscription: SubscriptionReference.optional().describe(
    'Only events of this subscription, by its id or ARN.',
  ),
  type: TypeList.optional().describe(
    `Only events of these types, by commas: ${EVENT_TYPES.join(', ')}. Default: all.`,
  ),
  statusCode: StatusList.optional().describe(
    'Only events with these statuses, by commas: 503, 5xx, or none for attempts without an answer. Default: all.',
  ),
  max: z.coerce
    .number()
    .int()
    .min(1)
    .max(EVENTS_PER_SECOND_MAX)
    .default(EVENTS_PER_SECOND_DEFAULT)
    .describe('Events a second at most. The event `gap` counts the others.'),
  since: TimestampInput.optional().describe(
    'Ends of deliveries from this time on, as far as the outcome log has them. `Last-Event-ID` goes before it.',
  ),
})

const CAUSES = Object.keys(DELIVERY_CAUSES) as [DeliveryCause, ...DeliveryCause[]]

export const EventView = named(
  'DeliveryEvent',
  z
    .object({
      type: z.enum(EVENT_TYPES).describe('Kind of event; also the name of the event in the stream.'),
      at: timestamp('When it happened'),
      topicArn: z.string().nullable().describe('ARN of the topic; null: it is not known any more.'),
      messageId: z
        .string()
        .optional()
        .describe('Published message, as `GET /v1/messages/{messageId}` names it.'),
      subscriptionId: z
        .string()
        .nullable()
        .optional()
        .describe('Id of the subscription; null: it is about the whole message.'),
      subscriptionName: z
        .string()
        .nullable()
        .optional()
        .describe('Name of the subscription for people; null: it has none, or is not known any more.'),
      endpoint: z
        .string()
        .nullable()
        .optional()
        .describe('URL or ARN that is delivered to, without a password; null: there is no subscription.'),
      attempts: z.int().optional().describe('Attempts so far, this one included.'),
      path: z
        .enum(['first', 'lane'])
        .optional()
        .describe('first: straight from the job. lane: from the lane of its subscription.'),
      statusCode: z.int().nullable().optional().describe('HTTP status of the last answer; null: none came.'),
      error: z
        .string()
        .nullable()
        .optional()
        .describe('Code of the last failure without an answer; null: there was none.'),
      durationMs: z.int().optional().describe('Milliseconds that the attempt took.'),
      decision: z
        .enum(ATTEMPT_DECISIONS)
        .optional()
        .describe(
          'Decision of the worker after the attempt: retry, dead, or delivered, for lanes that make no attempts circuitOpen or misconfigured, and gone after a 410 that paused the subscription.',
        ),
      nextAttemptAt: Timestamp.nullable()
        .optional()
        .describe('When the next attempt is due: ISO 8601 in UTC. null: none is planned.'),
      cause: z
        .enum(CAUSES)
        .nullable()
        .optional()
        .describe('Cause of the time of what follows, or of the end; null: nothing delayed it.'),
      delayMs: z
        .number()
        .nullable()
        .optional()
        .describe('Milliseconds that the cause delayed it; null: not known.'),
      editedFrom: z
        .string()
        .optional()
        .describe('Only of `redriven`: id of the message that an edited one replaces.'),
      redrives: z.int().optional().describe('How often it was brought back from a dead-letter queue.'),
    })
    .meta({
      description: 'An event of a message or delivery. It never has bodies, attributes or headers.',
      examples: [
        {
          type: 'attempt',
          at: '2026-11-21T09:30:00.000Z',
          topicArn: SUBSCRIPTION_EXAMPLE.topicArn,
          messageId: '01a20280-008c-7049-ad32-7f89fcc445e8',
          subscriptionId: SUBSCRIPTION_EXAMPLE.id,
          subscriptionName: 'Billing',
          endpoint: SUBSCRIPTION_EXAMPLE.endpoint,
          attempts: 3,
          path: 'lane',
          statusCode: 503,
          error: null,
          durationMs: 24,
          decision: 'retry',
          nextAttemptAt: '2026-11-21T09:30:05.000Z',
          cause: 'backoff',
          delayMs: 5_000,
        },
      ],
    }),
)
