/** Routes that read kept messages, and send them again. */
import { needScope } from '@fantail/access'
import type { ErrorCode, Message } from '@fantail/contracts'
import {
  MessageBodyView,
  ResendAnswer,
  ResendCount,
  ResendInput,
  ResendSinceInput,
} from '@fantail/contracts/schemas/messages/kept-schemas'
import { IdempotencyKey, MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { RedriveView } from '@fantail/contracts/schemas/queues/redrive-schemas'
import { SubscriptionReference } from '@fantail/contracts/schemas/shared-schemas'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { iso } from '../../http/record-views.ts'
import { resendOne, resendSince } from '../../kept/resend.ts'
import { type StoredMessage, storedMessage } from '../../kept/stored-message.ts'
import { messageIdOf } from './message-routes.ts'

const WRITE_ERRORS: ErrorCode[] = ['not_found', 'wrong_state', 'storage_full']
const params = { messageId: MessageReference }

export function keptRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'getMessageBody',
      method: 'GET',
      path: '/v1/messages/{messageId}/body',
      params,
      tag: 'Messages',
      summary: 'Read the text and attributes of a message',
      description:
        'Served from the messages that the topic keeps (`keepMessages`), or from where a delivery still waits or was ' +
        'dead-lettered. A key also needs the scope `bodies`.',
      answers: { 200: { description: 'The message as it is stored', schema: MessageBodyView } },
      errors: ['not_found', 'body_gone', 'key_unavailable'],
      handle: async (call) => {
        if (call.caller) needScope(call.caller, ['bodies'])
        return ok(bodyView(await storedMessage(deps, messageIdOf(call))))
      },
    }),
    endpoint({
      id: 'resendMessage',
      method: 'POST',
      path: '/v1/messages/{messageId}/resend',
      params,
      tag: 'Messages',
      summary: 'Send a message again to one subscription',
      description:
        'The subscription gets a new delivery under the same message id, with a new set of attempts. Its filter is not ' +
        'asked. The delivery waits in the lane, and in a FIFO topic behind its group. With an `Idempotency-Key`, a ' +
        'request that is repeated within 24 hours makes no second delivery.',
      headers: { 'Idempotency-Key': IdempotencyKey.optional() },
      body: ResendInput,
      answers: { 202: { description: 'The delivery waits in its lane.', schema: ResendAnswer } },
      errors: [...WRITE_ERRORS, 'body_gone', 'key_unavailable'],
      handle: (call) => resendOne(deps, call, messageIdOf(call)),
    }),
    endpoint({
      id: 'resendSince',
      method: 'POST',
      path: '/v1/subscriptions/{id}/resend',
      params: { id: SubscriptionReference },
      tag: 'Subscriptions',
      summary: 'Send the kept messages since a time again',
      description:
        'Answers at once. A task then resends the messages that the topic keeps since that time, also those that were ' +
        'delivered, unless `failedOnly` is true. The filter of the subscription is asked. The routes of redrives read the task, change its rate, ' +
        'pause, resume and cancel it. One resend per subscription is active at a time.',
      body: ResendSinceInput,
      answers: {
        200: { description: 'With dryRun: how many messages are kept since then', schema: ResendCount },
        202: { description: 'The task has begun', schema: RedriveView },
      },
      errors: [...WRITE_ERRORS, 'redrive_active'],
      handle: (call) => resendSince(deps, call),
    }),
  ]
}

function bodyView({ message, from }: StoredMessage): object {
  const { messageId, topicArn, publishedAt, message: text, attributes = {}, ...rest } = message
  return {
    messageId,
    topicArn,
    publishedAt: iso(publishedAt),
    message: text,
    ...shown(rest),
    attributes,
    from,
  }
}

const SHOWN = ['sourceId', 'structure', 'subject', 'groupId', 'deduplicationId', 'sequenceNumber'] as const

/** The members that a publisher gave or that a FIFO topic made. The others are the server's own. */
function shown(message: Partial<Message>): Partial<Message> {
  return Object.fromEntries(
    SHOWN.flatMap((name) => (message[name] === undefined ? [] : [[name, message[name]]])),
  )
}
