/** The event type and a line of messages of which only the ids are known, as far as their texts are stored. */
import { seesBodies } from '@fantail/access'
import type { Message } from '@fantail/contracts'
import { contentIfReadable, type FoundMessage, sideBySide } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { Call } from '../http/endpoint.ts'
import { letterPlaceOf } from '../kept/stored-message.ts'
import { type Content, contentOf, NO_CONTENT_SHOWN } from './content.ts'
import { permissionFor } from './search-scope.ts'

/** Messages whose texts are read at a time, so that only these are in memory. */
const LINES_AT_ONCE = 8

type Tools = Pick<ApiDeps, 'kept' | 'seals' | 'subscriptions' | 'topicQueues' | 'queues'>
type Known = Pick<FoundMessage, 'messageId' | 'topicArn' | 'counts' | 'ends'>

/** In the order of the messages. */
export async function linesOf(
  deps: Tools,
  call: Pick<Call, 'caller' | 'mayDo'>,
  messages: readonly Known[],
): Promise<(Content | typeof NO_CONTENT_SHOWN)[]> {
  if (!seesBodies(call.caller)) return messages.map(() => NO_CONTENT_SHOWN)
  const mayRead = permissionFor(call, 'SNS:GetTopicAttributes')
  return sideBySide(messages, LINES_AT_ONCE, async (known) => {
    const { topicArn } = known
    if (topicArn === null || !(await mayRead(topicArn))) return NO_CONTENT_SHOWN
    const message = await find(deps, { ...known, topicArn })
    return message ? contentOf(message) : NO_CONTENT_SHOWN
  })
}

/** Looks only where the message most likely is, because a list has many messages. */
async function find(deps: Tools, known: Known & { topicArn: string }): Promise<Message | null> {
  const { messageId, topicArn, counts, ends } = known
  const kept = await deps.kept.read(topicArn, messageId)
  if (Buffer.isBuffer(kept)) return contentIfReadable(kept, deps.seals) ?? null
  const waiting = counts.parked > 0 ? await deps.kept.waiting(messageId, topicArn) : null
  if (waiting) return contentIfReadable(waiting, deps.seals) ?? null
  const [end] = ends
  if (end?.outcome !== 'deadLettered' || end.subscriptionId === null) return null
  const { subscriptionId, generation } = end
  const place = await letterPlaceOf(deps, { messageId, subscriptionId, generation })
  const item = place && (await deps.queues.message(place.queueArn, place.messageId))
  return item?.sealed === 'locked' ? null : (item?.deadLetter?.message ?? null)
}
