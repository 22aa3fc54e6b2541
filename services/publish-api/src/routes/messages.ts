/** What became of a message. */
import { DeliveriesAnswer, MessageView, parseMessageId } from '@fantail/contracts'
import type { ApiDeps } from '../deps.ts'
import { type Call, type Endpoint, endpoint, ok } from '../http/endpoint.ts'
import { notFound } from '../http/errors.ts'

export function messageRoutes({ messages }: ApiDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/messages/{messageId}',
      tag: 'Messages',
      summary: 'What became of a message, in numbers',
      description: 'From the outcome log: 404 once the message has left it.',
      answers: { 200: { description: 'The message and its counts', schema: MessageView } },
      errors: ['not_found'],
      handle: async (call) => ok(found(await messages.message(messageIdOf(call)))),
    }),
    endpoint({
      method: 'GET',
      path: '/v1/messages/{messageId}/deliveries',
      tag: 'Messages',
      summary: 'What became of a message, delivery by delivery',
      answers: { 200: { description: 'Its deliveries', schema: DeliveriesAnswer } },
      errors: ['not_found'],
      handle: async (call) => ok({ deliveries: found(await messages.deliveries(messageIdOf(call))) }),
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
