/** The route of live events: a stream of events about messages and deliveries. */
import { type Caller, isOf } from '@fantail/access'
import {
  directOwnerOf,
  FantailError,
  parseMessageId,
  resolveSubscription,
  resolveTopic,
} from '@fantail/contracts'
import { EVENT_TYPES, EventsQuery, EventView } from '@fantail/contracts/schemas/events/event-schemas'
import { parsePosition } from '@fantail/store'
import { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import type { Wanted } from '../../events/event-listener.ts'
import type { Since } from '../../events/event-listeners.ts'
import { type Answer, type Call, type Endpoint, endpoint } from '../../http/endpoint.ts'
import { notFound } from '../../http/error-answers.ts'

type Query = z.output<typeof EventsQuery>

const LastEventId = z
  .string()
  .optional()
  .describe('The last `id` that the caller got. The stream continues after it, so no end comes twice.')

/** Proxies must neither cache nor buffer the stream. */
const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
}

export function eventRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listenToEvents',
      method: 'GET',
      path: '/v1/events',
      tag: 'Messages',
      summary: 'Follow messages and deliveries live',
      description:
        'A stream of server-sent events: what was published, attempts, and ends of deliveries. Ends come from the ' +
        'outcome log, and resume behind the last id. Attempts and other events come only while a client listens, and ' +
        'after a reconnect begin with a `gap`. The event `gap` says how many events are missing (`dropped`, null: ' +
        'unknown), from when to when, and why: rate, lag, trimmed or reconnect. Every five seconds `state` says ' +
        'whether the stream is live. The event `end` says why the server closes it. No event has bodies.',
      headers: { 'Last-Event-ID': LastEventId },
      query: EventsQuery,
      streams: true,
      answers: {
        200: { description: 'The stream', contentType: 'text/event-stream', schema: EventView },
      },
      errors: ['not_found', 'rate_limited'],
      handle: (call) => listen(deps, call),
    }),
  ]
}

async function listen(deps: ApiDeps, call: Call<Query>): Promise<Answer> {
  const { request, caller, recheck } = call
  const wanted = await wantedBy(deps, call)
  const since = await beginning(deps, call)
  if (request.method === 'HEAD') return { status: 200, headers: { ...STREAM_HEADERS } }
  const keyId = caller?.id ?? null
  const stream = deps.events.open({ wanted, keyId, since, check: recheck ?? (async () => undefined) })
  return { status: 200, stream, headers: { ...STREAM_HEADERS } }
}

async function wantedBy(
  { settings, subscriptions }: ApiDeps,
  { query, caller }: Call<Query>,
): Promise<Wanted> {
  const { type: types = EVENT_TYPES, statusCode: statuses, max } = query
  const id = query.subscription === undefined ? undefined : resolveSubscription(query.subscription)
  const record = id !== undefined && parseMessageId(id) ? await subscriptions.get(id) : undefined
  if (id !== undefined && !record) throw notFound('subscription')
  const topicArn = query.topic === undefined ? undefined : resolveTopic(query.topic, settings.arn)
  const asked = { types, topicArn, subscriptionId: record?.id, statuses, max }
  const named = topicArn ?? record?.topicArn
  return { ...asked, ...scopeOf(caller, named) }
}

/**
 * The topics whose events the caller sees. If the query names a topic or subscription, access to it was checked, and is
 * checked again. Otherwise the key sees the same topics as in lists.
 */
function scopeOf(caller: Caller, named: string | undefined): Pick<Wanted, 'account' | 'prefixes' | 'sees'> {
  const isOpen = (arn: string | null) => arn === null || directOwnerOf(arn) === undefined
  if (named !== undefined) return { account: undefined, prefixes: [], sees: (arn) => arn === named }
  if (caller === null) return { account: undefined, prefixes: [], sees: isOpen }
  const { account, prefixes } = caller
  const sees = (arn: string | null) => arn !== null && isOpen(arn) && isOf(caller, arn)
  return { account, prefixes, sees }
}

async function beginning(
  { outcomeReader, clock }: ApiDeps,
  { query, request }: Call<Query>,
): Promise<Since | undefined> {
  const id = request.header('last-event-id')
  if (id !== undefined && id !== '') {
    const position = parsePosition(id)
    if (!position) throw FantailError.invalid('Last-Event-ID', 'is not an id that this stream gave')
    // The last event may be inside a page that comes after the positions of the streams.
    const { streams, within } = position
    const seenUntil = Math.max(...streams.map(({ ms }) => ms), within?.ms ?? 0)
    const missedFrom = seenUntil === 0 ? null : Math.min(seenUntil, clock())
    return { position, isComplete: true, isReconnect: true, missedFrom }
  }
  if (query.since === undefined) return undefined
  return { ...(await outcomeReader.since(Date.parse(query.since))), isReconnect: false, missedFrom: null }
}
