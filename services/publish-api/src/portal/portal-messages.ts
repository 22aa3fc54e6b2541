/**
 * Which messages are an endpoint's own. A topic may have messages that the operator's filter keeps from the endpoint,
 * so a message counts only if a delivery of it was begun.
 */
import { type Cursors, isVisible } from '@fantail/access'
import { type Message, parseMessageId, publishedAtOf, type SubscriptionRecord } from '@fantail/contracts'
import type {
  PortalMessageList,
  PortalMessageQuery,
} from '@fantail/contracts/schemas/portal/portal-message-schemas'
import {
  type AttemptRecord,
  type DeliveryOutcome,
  deadLetterItemId,
  deliveryId,
  type FoundMessage,
  openMessage,
  placeOfSubscription,
} from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, type Call, idOf, ok } from '../http/endpoint.ts'
import { notFound } from '../http/error-answers.ts'
import { iso, isoOrNull } from '../http/record-views.ts'
import { findStored, letterOf } from '../kept/stored-message.ts'
import { letterQueueOf } from '../redrives/dead-letter-sources.ts'
import { NO_CONTENT_SHOWN } from '../search/content.ts'
import { linesOf } from '../search/message-lines.ts'
import { visibleSubscription } from '../subscriptions/change.ts'
import { codeOf } from './portal-views.ts'

type Query = z.output<typeof PortalMessageQuery>
type View = z.input<typeof PortalMessageList>['messages'][number]
type State = View['state']
interface Seen {
  message: FoundMessage
  view: Omit<View, keyof typeof NO_CONTENT_SHOWN>
}

const ENDS = ['deadLettered', 'discarded', 'expired'] as const
/** Entries of the outcome log that may show a state. A filtered message is not the endpoint's. */
const SEARCHED = {
  delivered: ['delivered'],
  failed: ENDS,
  waiting: ['parked', ...ENDS],
  all: ['delivered', 'parked', ...ENDS],
} as const

export async function listMessages(deps: ApiDeps, cursors: Cursors, call: Call<Query>): Promise<Answer> {
  const { state, limit, cursor } = call.query
  await cursors.ready()
  const record = await visibleSubscription(deps, idOf(call))
  const { id, bit, departures } = record
  const { sliceId } = placeIn(id)
  const found = await deps.outcomeSearch.find({
    subscription: { id, sliceId, bit, departures },
    states: SEARCHED[state ?? 'all'],
    limit,
    cursor: cursor === undefined ? undefined : await cursors.open(cursor),
    isVisible: (arn) => arn !== null && isVisible(call.caller, arn),
  })
  const messages = await viewsOf(deps, record, found.messages)
  const left = state === 'failed' ? await withLetters(deps, record, messages) : messages
  const shown = left.filter(({ view }) => state === undefined || view.state === state)
  const lines = await linesOf(
    deps,
    call,
    shown.map(({ message }) => message),
  )
  const view: z.input<typeof PortalMessageList> = {
    messages: shown.map(({ view }, i) => ({ ...view, ...(lines[i] ?? NO_CONTENT_SHOWN) })),
    scannedTo: isoOrNull(found.scannedTo),
    nextCursor: found.nextCursor && cursors.seal(found.nextCursor),
  }
  return ok(view)
}

function placeIn(subscriptionId: string) {
  const place = placeOfSubscription(subscriptionId)
  if (!place) throw notFound('subscription')
  return place
}

/**
 * A message that went to its lane, or back to it, may wait there, or may have ended in an entry that an earlier page
 * has. So the lane is asked.
 */
async function viewsOf(deps: ApiDeps, record: SubscriptionRecord, found: FoundMessage[]): Promise<Seen[]> {
  const open = found.filter(({ ends: [end], counts }) => end?.outcome !== 'delivered' && !counts.delivered)
  const asked = open.map(({ messageId, ends: [end] }) => ({
    subscriptionId: record.id,
    delivery: deliveryId(messageId, end ? end.generation + 1 : 0),
  }))
  const places = asked.length > 0 ? await deps.lanes.deliveryStates(placeIn(record.id).shard, asked) : []
  const waiting = new Set(open.filter((_, i) => places[i]?.where !== 'absent'))
  return found.flatMap((message) => {
    const state = stateOf(message, waiting.has(message))
    return state ? [{ message, view: messageView(message, state) }] : []
  })
}

/** Without dead letters that have left their queue, because they were sent again. */
async function withLetters(deps: ApiDeps, record: SubscriptionRecord, all: Seen[]): Promise<Seen[]> {
  const queue = await letterQueueOf(deps, record)
  const dead = all.filter(
    ({
      message: {
        ends: [end],
      },
    }) => end?.outcome === 'deadLettered',
  )
  const ids = dead.map(
    ({
      message: {
        messageId,
        ends: [end],
      },
    }) => deadLetterItemId(record.id, deliveryId(messageId, end?.generation ?? 0)),
  )
  const present = queue === undefined ? [] : await deps.queues.has(queue, ids)
  const gone = new Set(dead.filter((_, i) => !present[i]))
  return all.filter((one) => !gone.has(one))
}

/** undefined: it waited in its lane, and has ended since. */
function stateOf({ ends: [end], counts }: FoundMessage, isWaiting: boolean): State | undefined {
  if (isWaiting) return 'waiting'
  if (end) return end.outcome === 'delivered' ? 'delivered' : 'failed'
  return counts.delivered > 0 ? 'delivered' : undefined
}

function messageView({ messageId, publishedAt, at, ends: [end] }: FoundMessage, state: State): Seen['view'] {
  return {
    messageId,
    publishedAt: iso(publishedAt),
    at: iso(at),
    state,
    attempts: end?.attempts ?? null,
    statusCode: end?.statusCode ?? null,
    error: codeOf(end?.error ?? null),
  }
}

interface OwnMessage {
  messageId: string
  publishedAt: number
  state: State | null
  /** Newest first. */
  attempts: AttemptRecord[]
  /** Its dead letter, if the queue has it. */
  letter: Awaited<ReturnType<typeof letterOf>>
}

/** Throws `not_found` if the message was never sent to this endpoint, or if nothing is known of it any more. */
export async function ownMessage(
  deps: ApiDeps,
  record: SubscriptionRecord,
  messageId: string,
): Promise<OwnMessage> {
  if (!parseMessageId(messageId)) throw notFound('message')
  const publishedAt = publishedAtOf(messageId)
  // No look into the log costs more than the endpoint's own life.
  if (publishedAt < record.createdAt - CREATION_SLACK_MS) throw notFound('message')
  const [recorded, rows] = await Promise.all([
    deps.attempts.read(record.id),
    deps.outcomes.deliveries(messageId),
  ])
  const attempts = recorded.filter((attempt) => attempt.messageId === messageId)
  const row = rows?.find(({ subscriptionId }) => subscriptionId === record.id)
  if ((!row || row.state === 'filtered') && attempts.length === 0) throw notFound('message')
  const letter = row?.state === 'deadLettered' ? await letterOf(deps, record, messageId, row) : undefined
  return { messageId, publishedAt, state: row ? rowState(row) : null, attempts, letter }
}

/** Clocks of shards may differ by this much. */
const CREATION_SLACK_MS = 60_000

function rowState({ state }: DeliveryOutcome): State | null {
  if (state === 'delivered') return 'delivered'
  if (state === 'waiting' || state === 'inFlight' || state === 'quarantined') return 'waiting'
  return state === 'filtered' ? null : 'failed'
}

/** undefined: its text is stored nowhere. Throws a SealKeyError. */
export async function storedText(
  deps: ApiDeps,
  { topicArn }: SubscriptionRecord,
  { messageId, letter }: OwnMessage,
): Promise<Message | undefined> {
  if (letter) return openMessage(deps.seals, letter.message)
  return (await findStored(deps, topicArn, messageId)).found?.message
}
