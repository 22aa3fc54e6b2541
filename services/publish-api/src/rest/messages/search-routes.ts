/** The search for messages by the events of their deliveries. */
import { isVisible } from '@fantail/access'
import { parseArn, resolveTopic } from '@fantail/contracts'
import {
  MessageSearchAnswer,
  MessageSearchQuery,
} from '@fantail/contracts/schemas/messages/message-search-schemas'
import { type FoundMessage, redrivesOf } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'
import { iso, isoOrNull } from '../../http/record-views.ts'
import { NO_CONTENT_SHOWN } from '../../search/content.ts'
import { linesOf } from '../../search/message-lines.ts'

type Query = z.output<typeof MessageSearchQuery>

export function searchRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'searchMessages',
      method: 'GET',
      path: '/v1/messages',
      tag: 'Messages',
      summary: 'Search what happened to messages',
      description:
        'Reads the outcome log backwards, from the newest entry. A call reads a bounded part, so a page may be short ' +
        'or empty and still have a cursor. `scannedTo` says how far it looked. Messages to one target are left out.',
      query: MessageSearchQuery,
      answers: { 200: { description: 'A part of the search', schema: MessageSearchAnswer } },
      errors: ['not_found'],
      handle: (call) => searchMessages(deps, call),
    }),
  ]
}

async function searchMessages(deps: ApiDeps, call: Call<Query>): Promise<Answer> {
  const { query, caller } = call
  const { topic, subscription, since, until, state, statusCode, show, limit, cursor } = query
  const found = await deps.outcomeSearch.find({
    topicArn: topic === undefined ? undefined : resolveTopic(topic, deps.settings.arn),
    subscription: subscription === undefined ? undefined : await ownSubscription(deps, subscription, caller),
    states: state && [state],
    statusCode,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
    limit,
    cursor,
    // The topic is unknown if it was deleted, and so is the owner of the message.
    isVisible: (arn) => (arn === null ? caller === null : isVisible(caller, arn)),
  })
  const { messages, scannedTo, nextCursor } = found
  const lines = show === 'lines' ? await linesOf(deps, call, messages) : []
  const shown = messages.map((message, i) => ({ ...messageView(message), ...(lines[i] ?? NO_CONTENT_SHOWN) }))
  return ok({ messages: shown, scannedTo: isoOrNull(scannedTo), nextCursor })
}

/** A deleted subscription is found while its slice remembers it. */
async function ownSubscription({ subscriptions }: ApiDeps, given: string, caller: Call['caller']) {
  const found = await subscriptions.bitOf(parseArn(given)?.subscriptionId ?? given)
  if (!found || !isVisible(caller, found.topicArn)) throw notFound('subscription')
  return found
}

function messageView({ publishedAt, at, ends, ...message }: FoundMessage): object {
  return {
    ...message,
    publishedAt: iso(publishedAt),
    at: iso(at),
    ends: ends.map(({ generation, endedAt, ...end }) => ({
      ...end,
      redrives: redrivesOf(generation),
      endedAt: iso(endedAt),
    })),
  }
}
