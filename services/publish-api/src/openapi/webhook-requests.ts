/** Requests that Fantail sends to subscribed webhooks. */
import { ATTEMPT_DEADLINE_MS, RETRY_ON_DEFAULT } from '@fantail/contracts'
import { Notice } from '@fantail/contracts/schemas/overview/notice-schemas'
import { BatchFailures, QueueEvent } from '@fantail/contracts/schemas/queues/queue-event-schemas'
import { Confirmation, Notification, WEBHOOK_HEADERS } from '@fantail/contracts/schemas/webhook-schemas'
import { z } from 'zod'
import type { Tag } from '../http/endpoint.ts'
import { described, examplesOf, type Json, referenceTo } from './component-schemas.ts'

const TAG: Tag = 'Webhooks'

const RawMessage = z
  .string()
  .describe('The bare message, where raw delivery is on.')
  .meta({ examples: ['hello'] })

const RETRIED = 'Tried again by the retry policy. `Retry-After` may ask for a longer delay.'
const RESPONSES = {
  '2XX': { description: 'Accepted. The body is read and dropped.' },
  ...Object.fromEntries(RETRY_ON_DEFAULT.map((status) => [status.toUpperCase(), { description: RETRIED }])),
  default: {
    description: 'Refused permanently, redirects included: it goes to the dead-letter queue or is discarded.',
  },
}

const ONLY_NOTIFICATIONS = ['x-amz-sns-rawdelivery']

export function webhooks(): Json {
  return {
    notification: { post: notification() },
    confirmation: { post: confirmation() },
    notice: { post: notice() },
    queueBatch: { post: queueBatch() },
  }
}

function notification(): Json {
  const { description, schema } = described(RawMessage)
  return {
    operationId: 'receiveNotification',
    tags: [TAG],
    summary: 'A published message',
    description:
      'Sent to each webhook whose filter policy lets the message through. An attempt has to be answered within ' +
      `${ATTEMPT_DEADLINE_MS / 1_000} seconds, else it is made again by the retry policy. A message may arrive more than ` +
      'once: drop what has a known id. Check the signature before anything else.\n\nThe body is the JSON envelope, whatever `Content-Type` says. The delivery policy ' +
      'names that header. By default it is `application/json`, for raw messages that are not JSON `text/plain; ' +
      'charset=UTF-8`. Subscriptions of the AWS protocols get `text/plain; charset=UTF-8`, as from SNS.',
    security: [],
    parameters: headers(() => true),
    requestBody: {
      required: true,
      content: {
        'text/plain': jsonContent(Notification),
        'application/json': jsonContent(Notification),
        '*/*': { schema: { ...schema, description }, example: examplesOf(RawMessage)[0] },
      },
    },
    responses: RESPONSES,
  }
}

function confirmation(): Json {
  return {
    operationId: 'receiveConfirmation',
    tags: [TAG],
    summary: 'A question about a subscription',
    description:
      'Sent where a subscription was made with `confirmation: "handshake"` or over the AWS protocols, and where a link ' +
      'has ended one. Follow `SubscribeURL`, or give `Token` to `confirmSubscription`, within 48 hours.\n\nThe body is ' +
      'JSON, sent as `application/json`; to subscriptions of the AWS protocols as `text/plain; charset=UTF-8`.',
    security: [],
    parameters: headers((name) => !ONLY_NOTIFICATIONS.includes(name)),
    requestBody: {
      required: true,
      content: { 'application/json': jsonContent(Confirmation), 'text/plain': jsonContent(Confirmation) },
    },
    responses: RESPONSES,
  }
}

function notice(): Json {
  return {
    operationId: 'receiveNotice',
    tags: [TAG],
    summary: 'A notice of Fantail itself',
    description:
      'Sent to subscriptions of topics with the setting `notices`. With raw delivery it is the body, as here, and ' +
      'otherwise `Message` of the envelope. The message attribute `eventType` has its type.',
    security: [],
    parameters: headers(() => true),
    requestBody: { required: true, content: { 'application/json': jsonContent(Notice) } },
    responses: RESPONSES,
  }
}

function queueBatch(): Json {
  return {
    operationId: 'receiveQueueBatch',
    tags: [TAG],
    summary: 'Messages of a queue, for a push consumer',
    description:
      'Sent to the `url` of a push consumer, and to be answered within its `timeoutSeconds`. Messages may come more than ' +
      'once: drop those with a known `messageId`.',
    security: [],
    requestBody: { required: true, content: { 'application/json': jsonContent(QueueEvent) } },
    responses: {
      '2XX': {
        description:
          'The batch is deleted, but for messages named as failed where the consumer reports them.',
        content: { 'application/json': jsonContent(BatchFailures) },
      },
      default: { description: 'The batch stays, and comes back after its visibility timeout.' },
    },
  }
}

function jsonContent(schema: z.ZodType): Json {
  return { schema: referenceTo(schema), example: examplesOf(schema)[0] }
}

function headers(isThere: (name: string) => boolean): Json[] {
  return Object.entries(WEBHOOK_HEADERS)
    .filter(([name]) => isThere(name))
    .map(([name, header]) => ({ name, in: 'header', ...described(header) }))
}
