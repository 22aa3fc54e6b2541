/** Routes for a message and its deliveries. */
import { directOwnerOf, parseMessageId } from '@fantail/contracts'
import { DeliveriesAnswer, MessageView } from '@fantail/contracts/schemas/messages/delivery-schemas'
import { MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { redactEndpoint } from '@fantail/delivery'
import type { DeliveryOutcome, MessageSummary } from '@fantail/store'
import type { ApiDeps } from '../deps.ts'
import { type Call, type Endpoint, endpoint, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { iso, isoOrNull } from '../http/record-views.ts'

export function messageRoutes({ messages }: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'getMessage',
      method: 'GET',
      path: '/v1/messages/{messageId}',
      params: { messageId: MessageReference },
      tag: 'Messages',
      summary: 'Count the deliveries of a message by state',
      description:
        'Read from the outcome log, which keeps the newest messages (`FANTAIL_LOG_MESSAGES`). Answers 404 once the ' +
        'message has left it.',
      answers: { 200: { description: 'The message and its counts', schema: MessageView } },
      errors: ['not_found'],
      handle: async (call) => ok(messageView(found(await messages.message(messageIdOf(call))))),
    }),
    endpoint({
      id: 'listDeliveries',
      method: 'GET',
      path: '/v1/messages/{messageId}/deliveries',
      params: { messageId: MessageReference },
      tag: 'Messages',
      summary: 'List the deliveries of a message',
      description:
        'One entry per subscription of the topic, with the latest end of what was redriven. `because` and `delayMs` say ' +
        'why a delivery came when it did, why it waits, or why it ended.',
      answers: { 200: { description: 'Its deliveries', schema: DeliveriesAnswer } },
      errors: ['not_found'],
      handle: async (call) => {
        const deliveries = found(await messages.deliveries(messageIdOf(call)))
        return ok({ deliveries: deliveries.map(deliveryView) })
      },
    }),
  ]
}

function messageIdOf({ params }: Call): string {
  const id = params.messageId ?? ''
  if (parseMessageId(id) === undefined) throw notFound('message')
  return id
}

function found<T>(value: T | null): T {
  if (value === null) throw notFound('message')
  return value
}

function messageView(message: MessageSummary): object {
  const { topicArn, target = null } = message
  const isDirect = directOwnerOf(topicArn) !== undefined
  const to = { topicArn: isDirect ? null : topicArn, target }
  return { ...message, ...to, publishedAt: iso(message.publishedAt) }
}

function deliveryView(delivery: DeliveryOutcome): object {
  const { endpoint, nextAttemptAt, endedAt, resentAt } = delivery
  return {
    ...delivery,
    endpoint: endpoint === null ? null : redactEndpoint(endpoint),
    nextAttemptAt: isoOrNull(nextAttemptAt),
    endedAt: isoOrNull(endedAt),
    resentAt: isoOrNull(resentAt),
  }
}
