/**
 * Lists as a key sees them: handlers list everything, and what is not the key's is cut afterwards. So that a page does
 * not show by its length or its cursor what was cut from it, the handler is asked again until the page is full, or the
 * list has ended, or it was asked often enough. Cursors are sealed, and only sealed ones are taken: one of the caller's
 * making would count what stands behind a name.
 */

import { type Cursors, isOf, type Key } from '@fantail/access'
import type { Answer, Call } from '../http/endpoint.ts'
import type { Rule } from './native-rules.ts'

/** @limit Rounds of one list that is cut for a caller. Past it: the page is short and has a cursor. */
const LIST_ROUNDS_PER_PAGE_MAX = 20

export interface Listing {
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
  { member, arn }: NonNullable<Rule['list']>,
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
    own.push(...items.filter((item) => isOf(key, String(item[arn]))))
    const next = body.nextCursor
    if (typeof next !== 'string') return { ...answer, body: { ...body, [member]: own, nextCursor: null } }
    if (own.length >= query.limit || round === LIST_ROUNDS_PER_PAGE_MAX) {
      return { ...answer, body: { ...body, [member]: own, nextCursor: cursors.seal(next) } }
    }
    cursor = next
  }
}
