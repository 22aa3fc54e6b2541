/** Searches of kept messages and of dead letters by what they say. */
import { type DeadLetter, messageBytes, type QueueMessage, resolveQueue } from '@fantail/contracts'
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
import { contentFinder, saidByItem } from '../../search/content.ts'
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
      description: `Reads all queues with dead letters, one after the other, the oldest letter first. Messages that a queue has moved to its dead-letter queue are found too, unless a condition is about topics, subscriptions or times. ${BOUNDED} \`queuesDone\` says how far it looked.`,
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
  const { topic, topicPrefix, metadata, queue, since, until, limit, cursor } = call.query
  const { isWanted, subscriptions } = await scopeOf(deps, call)
  const find = contentFinder(call.query)
  const asked = queue === undefined ? undefined : resolveQueue(queue, deps.settings.arn, 'queue')
  const queues = await queuesOf(deps, call.caller, asked)
  const withMoved = [topic, topicPrefix, metadata, since, until].every((condition) => condition === undefined)
  const { found, ...scanned } = await searchLetters(deps, {
    queues,
    withMoved,
    filter: await letterFilterOf(deps, { topic, since, until }, ''),
    mayRead: permissionFor(call, 'SQS:ReceiveMessage'),
    find: (item, queueArn) => {
      const end = item.deadLetter ? letterEnd(item.deadLetter) : withMoved && movedEnd(item)
      if (!end) return undefined
      const { topicArn, subscriptionArn } = end
      if (topicArn !== null && !isWanted(topicArn)) return undefined
      if (subscriptions && !subscriptions.has(subscriptionArn ?? '')) return undefined
      const content = find(saidByItem(item))
      return content && { queueArn, messageId: item.messageId, ...end, ...content }
    },
    ...{ limit, cursor, signal: call.request.signal },
  })
  return ok({ letters: found, ...scanned, queues: queues.length })
}

type End = Omit<
  z.input<typeof LetterSearchAnswer>['letters'][number],
  'queueArn' | 'messageId' | 'eventType' | 'line' | 'foundIn'
>

function letterEnd({ messageId: publishedMessageId, ...letter }: DeadLetter): End {
  const { topicArn, subscriptionArn, reason, statusCode, lastError, deadLetteredAt } = letter
  const known = { publishedMessageId, topicArn, subscriptionArn, reason, statusCode, lastError }
  return { ...known, deadLetteredAt: iso(deadLetteredAt), sourceQueueArn: null }
}

/** undefined: no queue has moved the message, or it cannot be read. */
function movedEnd({ deadLetterSourceArn: sourceQueueArn, sealed }: QueueMessage): End | undefined {
  if (sourceQueueArn === undefined || sealed === 'locked') return undefined
  const unknown = { publishedMessageId: null, topicArn: null, subscriptionArn: null, deadLetteredAt: null }
  return { ...unknown, reason: 'maxReceiveCount', statusCode: null, lastError: null, sourceQueueArn }
}
