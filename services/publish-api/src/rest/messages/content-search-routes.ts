/** Searches of kept messages and of dead letters by what they say. */
import { messageBytes, resolveQueue } from '@fantail/contracts'
import {
  KeptSearchAnswer,
  KeptSearchQuery,
  LetterSearchAnswer,
  LetterSearchQuery,
} from '@fantail/contracts/schemas/messages/content-search-schemas'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { OneByOne } from '../../http/one-by-one.ts'
import { iso, isoOrNull } from '../../http/record-views.ts'
import { letterFilterOf } from '../../redrives/filter-input.ts'
import { contentFinder } from '../../search/content.ts'
import { searchLetters } from '../../search/letter-search.ts'
import { permissionFor, queuesOf, scopeOf } from '../../search/search-scope.ts'

const BOUNDED =
  'A call looks for a bounded time, so an answer may be short or empty and still have a cursor. Without `text` and ' +
  '`eventType` everything is found. A key also needs the scope `bodies`, and gets what it may read.'

export function contentSearchRoutes(deps: ApiDeps): Endpoint[] {
  const searches = new OneByOne('searches')
  return [
    endpoint({
      id: 'searchKeptMessages',
      method: 'GET',
      path: '/v1/search/kept-messages',
      tag: 'Messages',
      summary: 'Search kept messages by what they say',
      description: `Reads the messages that topics keep (\`keepMessages\`), the newest first. ${BOUNDED} \`scannedTo\` says how far it looked.`,
      query: KeptSearchQuery,
      answers: { 200: { description: 'A part of the search', schema: KeptSearchAnswer } },
      errors: ['rate_limited'],
      handle: (call) => searches.take(() => searchKept(deps, call)),
    }),
    endpoint({
      id: 'searchDeadLetters',
      method: 'GET',
      path: '/v1/search/dead-letters',
      tag: 'Messages',
      summary: 'Search dead letters by what they say',
      description: `Reads all queues with dead letters, one after the other, the oldest letter first. ${BOUNDED} \`queuesDone\` says how far it looked.`,
      query: LetterSearchQuery,
      answers: { 200: { description: 'A part of the search', schema: LetterSearchAnswer } },
      errors: ['rate_limited'],
      handle: (call) => searches.take(() => searchDeadLetters(deps, call)),
    }),
  ]
}

const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))

async function searchKept(deps: ApiDeps, call: Call<z.output<typeof KeptSearchQuery>>): Promise<Answer> {
  const { since, until, limit, cursor } = call.query
  const { isWanted } = await scopeOf(deps, call)
  const find = contentFinder(call.query)
  const { found, scannedTo, ...scanned } = await deps.keptSearch.search({
    isWanted,
    mayRead: permissionFor(call, 'SNS:GetTopicAttributes'),
    find: (message) => {
      const content = find(message)
      if (!content) return undefined
      const { messageId, topicArn, publishedAt, attributes } = message
      const sizeBytes = messageBytes(message.message, attributes)
      return { messageId, topicArn, publishedAt: iso(publishedAt), sizeBytes, ...content }
    },
    ...{ since: timeOf(since), until: timeOf(until), limit, cursor, signal: call.request.signal },
  })
  return ok({ messages: found, scannedTo: isoOrNull(scannedTo), ...scanned })
}

async function searchDeadLetters(
  deps: ApiDeps,
  call: Call<z.output<typeof LetterSearchQuery>>,
): Promise<Answer> {
  const { topic, queue, since, until, limit, cursor } = call.query
  const { isWanted, subscriptions } = await scopeOf(deps, call)
  const find = contentFinder(call.query)
  const asked = queue === undefined ? undefined : resolveQueue(queue, deps.settings.arn, 'queue')
  const queueArns = (await queuesOf(deps, call.caller)).filter((arn) => asked === undefined || arn === asked)
  const { found, ...scanned } = await searchLetters(deps, {
    queueArns,
    filter: await letterFilterOf(deps, { topic, since, until }, ''),
    mayRead: permissionFor(call, 'SQS:ReceiveMessage'),
    find: (letter, place) => {
      const { topicArn, subscriptionArn, deadLetteredAt } = letter
      if (!isWanted(topicArn) || (subscriptions && !subscriptions.has(subscriptionArn))) return undefined
      const content = find(letter.message)
      if (!content) return undefined
      const { messageId: publishedMessageId, reason, statusCode, lastError } = letter
      const end = { reason, statusCode, lastError, deadLetteredAt: iso(deadLetteredAt) }
      return { ...place, publishedMessageId, topicArn, subscriptionArn, ...end, ...content }
    },
    ...{ limit, cursor, signal: call.request.signal },
  })
  return ok({ letters: found, ...scanned, queues: queueArns.length })
}
