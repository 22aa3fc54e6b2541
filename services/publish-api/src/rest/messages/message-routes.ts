/** Routes for a message and its deliveries. */
import { directOwnerOf, FantailError, messageBytes, parseMessageId, publishedAtOf } from '@fantail/contracts'
import { DeliveriesAnswer, MessageView } from '@fantail/contracts/schemas/messages/delivery-schemas'
import { MessageReference } from '@fantail/contracts/schemas/messages/message-schemas'
import { redactEndpoint } from '@fantail/delivery'
import {
  type DeliveryOutcome,
  ifReadable,
  type MessageSummary,
  readContent,
  sideBySide,
} from '@fantail/store'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso, isoOrNull } from '../../http/record-views.ts'
import { generationIn, letterPlaceOf } from '../../kept/stored-message.ts'

/**
 * Age of a message that no log entry shows. Past it: the answer is that of a message that has left the log. A topic
 * keeps a message before the outcome log has its first entry. Until this time is over, the entry is waited for.
 */
const ENTRY_DUE_MS = 60_000
/** Deliveries whose subscriptions are read at a time. */
const ROWS_AT_ONCE = 64

export function messageRoutes(deps: ApiDeps): Endpoint[] {
  const { outcomes } = deps
  return [
    endpoint({
      id: 'getMessage',
      method: 'GET',
      path: '/v1/messages/{messageId}',
      params: { messageId: MessageReference },
      tag: 'Messages',
      summary: 'Count the deliveries of a message by state',
      description:
        'Read from the outcome log, which keeps the newest messages (`FANTAIL_LOG_MESSAGES`). Once the message has left ' +
        'it, the answer has no counts (`logged: false`) while the topic keeps the message, and is 404 after that.',
      answers: { 200: { description: 'The message and its counts', schema: MessageView } },
      errors: ['not_found', 'body_gone', 'key_unavailable'],
      handle: async (call) => {
        const id = messageIdOf(call)
        const logged = await outcomes.message(id)
        return ok(logged ? messageView(logged, true) : messageView(await keptSummary(deps, id), false))
      },
    }),
    endpoint({
      id: 'listDeliveries',
      method: 'GET',
      path: '/v1/messages/{messageId}/deliveries',
      params: { messageId: MessageReference },
      tag: 'Messages',
      summary: 'List the deliveries of a message',
      description:
        'One entry per subscription of the topic, with the latest end of what was redriven. `cause` and `delayMs` say ' +
        'why a delivery came when it did, why it waits, or why it ended. The list is empty, with `logged: false`, if the ' +
        'message has left the outcome log and only its topic still keeps it.',
      answers: { 200: { description: 'Its deliveries', schema: DeliveriesAnswer } },
      errors: ['not_found', 'body_gone', 'key_unavailable'],
      handle: async (call) => {
        const id = messageIdOf(call)
        const deliveries = await outcomes.deliveries(id)
        if (deliveries) {
          const shown = await sideBySide(deliveries, ROWS_AT_ONCE, (row) => deliveryView(deps, id, row))
          return ok({ deliveries: shown, logged: true })
        }
        await keptSummary(deps, id)
        return ok({ deliveries: [], logged: false })
      },
    }),
  ]
}

/** Throws `not_found` if the path has no id of a message. */
export function messageIdOf({ params }: Call): string {
  const id = params.messageId ?? ''
  if (parseMessageId(id) === undefined) throw notFound('message')
  return id
}

/**
 * A message that only its topic still has. Throws `not_found` if no topic keeps it, or if it is too young for that, and
 * `body_gone` if the copy was damaged.
 */
async function keptSummary(
  { kept: rings, clock, seals }: ApiDeps,
  messageId: string,
): Promise<MessageSummary> {
  const publishedAt = publishedAtOf(messageId)
  const topicArn = publishedAt < clock() - ENTRY_DUE_MS ? await rings.topicOf(messageId) : null
  const body = topicArn === null ? null : await rings.read(topicArn, messageId)
  if (topicArn === null || !Buffer.isBuffer(body)) throw notFound('message')
  const [kept] = ifReadable(() => readContent(body, seals))
  if (!kept)
    throw new FantailError('body_gone', 'only its topic keeps the message, and this copy was damaged')
  const sizeBytes = messageBytes(kept.message, kept.attributes)
  return { messageId, topicArn, publishedAt, sizeBytes, counts: NO_COUNTS }
}

const NO_COUNTS = {
  delivered: 0,
  waiting: 0,
  deadLettered: 0,
  discarded: 0,
  expired: 0,
  quarantined: 0,
  filtered: 0,
}

function messageView(message: MessageSummary, logged: boolean): object {
  const { topicArn, target = null } = message
  const isDirect = directOwnerOf(topicArn) !== undefined
  const to = { topicArn: isDirect ? null : topicArn, target }
  return { ...message, ...to, publishedAt: iso(message.publishedAt), logged }
}

async function deliveryView(deps: ApiDeps, messageId: string, delivery: DeliveryOutcome): Promise<object> {
  const { endpoint, nextAttemptAt, endedAt, resentAt, subscriptionId, state } = delivery
  const isDead = state === 'deadLettered' && subscriptionId !== null
  const dead = isDead && { messageId, subscriptionId, generation: generationIn(delivery) }
  return {
    ...delivery,
    endpoint: endpoint === null ? null : redactEndpoint(endpoint),
    nextAttemptAt: isoOrNull(nextAttemptAt),
    endedAt: isoOrNull(endedAt),
    resentAt: isoOrNull(resentAt),
    deadLetter: dead ? ((await letterPlaceOf(deps, dead)) ?? null) : null,
  }
}
