/**
 * Lists as a key sees them. Handlers list everything, and items that the key may not see are removed afterwards. The
 * length and the cursor of a page must not reveal removed items. The handler is therefore called again until the page
 * is full, the list has ended, or a limit of calls is reached. Only sealed cursors are accepted. With a made-up cursor,
 * a caller could find out which names exist.
 */
import { type Cursors, isOf, type Key } from '@fantail/access'
import type { Answer, Call } from '../http/endpoint.ts'
import type { RouteRule } from './route-rule.ts'

/** Rounds of one list that is cut for a caller. Past it: the page is short and has a cursor. */
const LIST_ROUNDS_PER_PAGE_MAX = 20

interface Listing {
  call: Call
  key: Key
  /** Lists a page of everything. */
  handle: (call: Call) => Promise<Answer> | Answer
}

interface Query {
  limit: number
  cursor?: string
}

export async function ownPage(
  { call, key, handle }: Listing,
  { member, arn, ofTopic }: NonNullable<RouteRule['list']>,
  cursors: Cursors,
): Promise<Answer> {
  await cursors.ready()
  const { cursor: given, ...query } = call.query as Query
  let cursor = given === undefined ? undefined : await cursors.open(given)
  const own: unknown[] = []
  for (let round = 1; ; round++) {
    const limit = query.limit - own.length
    const answer = await handle({
      ...call,
      query: { ...query, limit, ...(cursor !== undefined && { cursor }) },
    })
    const body = answer.body as Record<string, unknown>
    const items = body[member] as Record<string, unknown>[]
    const isOwn = (item: Record<string, unknown>) =>
      isOf(key, String(item[arn])) || (ofTopic !== undefined && isOf(key, String(item[ofTopic])))
    own.push(...items.filter(isOwn))
    const next = body.nextCursor
    if (typeof next !== 'string') return { ...answer, body: { ...body, [member]: own, nextCursor: null } }
    if (own.length >= query.limit || round === LIST_ROUNDS_PER_PAGE_MAX) {
      return { ...answer, body: { ...body, [member]: own, nextCursor: cursors.seal(next) } }
    }
    cursor = next
  }
}
