/** Pages of the endpoints of a portal session. Cursors are sealed, because they contain names of topics and ids. */
import { type Cursors, isOf } from '@fantail/access'
import { choosesType, FantailError, type SubscriptionRecord, topicArn } from '@fantail/contracts'
import type { PortalEndpointQuery } from '@fantail/contracts/schemas/portal/portal-endpoint-schemas'
import { maskCredentials } from '@fantail/delivery'
import type { z } from 'zod'
import { isWebhook, type PortalKey, portalTopicArn } from '../auth/portal-caller.ts'
import type { ApiDeps } from '../deps/api-deps.ts'
import { type Answer, ok } from '../http/endpoint.ts'
import { showSubscriptions } from '../subscriptions/subscription-views.ts'
import { type EndpointView, endpointView } from './portal-views.ts'

/** Rounds of one list that a filter cuts. Past it: the page is short and has a cursor. */
const PORTAL_LIST_ROUNDS_MAX = 20

type Query = z.output<typeof PortalEndpointQuery>
interface Part {
  records: SubscriptionRecord[]
  /** null: there are no further ones. */
  next: string | null
}

export async function listEndpoints(
  deps: ApiDeps,
  { key, query, cursors }: { key: PortalKey; query: Query; cursors: Cursors },
): Promise<Answer> {
  await cursors.ready()
  const endpoints: EndpointView[] = []
  let cursor = query.cursor === undefined ? undefined : await cursors.open(query.cursor)
  for (let round = 1; ; round++) {
    const limit = query.limit - endpoints.length
    const { records, next } = await nextPart(deps, key, { ...query, limit, cursor })
    const shown = await showSubscriptions(
      deps,
      records.filter((record) => isWanted(record, query)),
    )
    const views = shown.map((view) => endpointView(view))
    endpoints.push(...views.filter(({ state }) => query.state === undefined || query.state === state))
    if (next === null) return ok({ endpoints, nextCursor: null })
    if (endpoints.length >= query.limit || round === PORTAL_LIST_ROUNDS_MAX)
      return ok({ endpoints, nextCursor: cursors.seal(next) })
    cursor = next
  }
}

/** The text is looked for in the address as it is shown. A search must not reveal a password. */
function isWanted(record: SubscriptionRecord, { q, eventType }: Query): boolean {
  const { protocol, unsubscribed, name, endpoint, eventTypes } = record
  if (!isWebhook(protocol) || unsubscribed) return false
  if (eventType !== undefined && !choosesType(eventTypes, eventType)) return false
  if (q === undefined) return true
  return `${name ?? ''}\n${maskCredentials(endpoint)}`.toLowerCase().includes(q.toLowerCase())
}

type Asked = Pick<Query, 'topic' | 'limit'> & { cursor: string | undefined }

function nextPart(deps: ApiDeps, key: PortalKey, asked: Asked): Promise<Part> | Part {
  const { topic } = asked
  const arn = topic === undefined ? undefined : portalTopicArn(deps, key, topic)
  const { subscriptions } = key.portal
  if (subscriptions !== null) return partOfIds(deps, key, { ...asked, subscriptions, arn })
  if (arn === undefined) return partOfPrefixes(deps, key, asked)
  return isOf(key, arn) ? partOf(deps, { topicArn: arn }, asked) : { records: [], next: null }
}

async function partOf(
  { subscriptions }: ApiDeps,
  of: { topicArn: string } | { topicPrefix: string },
  { limit, cursor }: Omit<Asked, 'topic'>,
): Promise<Part> {
  const from = cursor !== undefined && { cursor }
  const { items, nextCursor } = await subscriptions.list({ ...of, limit, ...from })
  return { records: items, next: nextCursor }
}

/** The key that made the link may have other prefixes by now. */
async function partOfIds(
  deps: ApiDeps,
  key: PortalKey,
  {
    subscriptions,
    arn,
    limit,
    cursor,
  }: Asked & { subscriptions: ReadonlySet<string>; arn: string | undefined },
): Promise<Part> {
  if (cursor !== undefined && !subscriptions.has(cursor)) throw badCursor()
  const left = [...subscriptions].sort().filter((id) => cursor === undefined || id > cursor)
  const ids = left.slice(0, limit)
  const found = await Promise.all(ids.map((id) => deps.subscriptions.getReadable(id)))
  const records = found.flatMap((record) =>
    record && isOf(key, record.topicArn) && (arn ?? record.topicArn) === record.topicArn ? [record] : [],
  )
  return { records, next: left.length > limit ? (ids.at(-1) ?? null) : null }
}

async function partOfPrefixes(deps: ApiDeps, key: PortalKey, { limit, cursor }: Asked): Promise<Part> {
  const prefixes = ownPrefixes(key)
  const from = cursor === undefined ? { prefix: prefixes[0] ?? '', after: undefined } : readPlace(cursor)
  const number = prefixes.indexOf(from.prefix)
  if (number < 0) throw badCursor()
  const place = { ...deps.settings.arn, account: key.account }
  const asked = { limit, cursor: from.after }
  const { records, next } = await partOf(deps, { topicPrefix: topicArn(from.prefix, place) }, asked)
  const following = prefixes[number + 1]
  if (next !== null) return { records, next: JSON.stringify([from.prefix, next]) }
  return { records, next: following === undefined ? null : JSON.stringify([following]) }
}

/** Without prefixes that begin with another one, whose topics would be listed twice. */
function ownPrefixes({ prefixes }: PortalKey): string[] {
  const sorted = [...new Set(prefixes)].sort()
  return sorted.filter((prefix) => !sorted.some((other) => other !== prefix && prefix.startsWith(other)))
}

/** The prefix of a cursor, and the cursor within the topics with this prefix. */
function readPlace(cursor: string): { prefix: string; after: string | undefined } {
  try {
    const [prefix, after] = JSON.parse(cursor) as [string, string?]
    return { prefix, after }
  } catch {
    throw badCursor()
  }
}

function badCursor(): FantailError {
  return FantailError.invalid('cursor', 'is not one that this list answered')
}
