/** Lanes of all topics: how many deliveries wait, and why. */
import type { Client } from '../generated/client/index.ts'
import { type Lane, type ListLanesData, listLanes } from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'
import { Listing } from './listing.ts'

type LaneFilter = Omit<NonNullable<ListLanesData['query']>, 'cursor' | 'groupBy'>

export interface LanesOf {
  /** Lists the worst lanes first, unless the filter says otherwise. */
  list(filter?: LaneFilter, options?: CallOptions): Listing<Lane>
}

export function lanesOf(client: Client): LanesOf {
  const list = (filter: LaneFilter = {}, options?: CallOptions) =>
    new Listing<Lane>(async (cursor) => {
      const page = await listLanes({ client, ...options, query: { ...filter, cursor } })
      return { items: page.lanes, nextCursor: page.nextCursor }
    })
  return { list }
}
