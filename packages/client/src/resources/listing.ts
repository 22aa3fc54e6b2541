import type { Client } from '../generated/client/index.ts'
import { type Lane, type ListLanesData, listLanes } from '../generated/index.ts'
import type { CallOptions } from '../transport/core-request.ts'

/** A list of the API. Its pages are read one by one while the caller iterates over it. */
type ReadPage<T> = (cursor: string | undefined) => Promise<{ items: T[]; nextCursor: string | null }>

export class Listing<T> implements AsyncIterable<T> {
  readonly #read: ReadPage<T>

  constructor(read: ReadPage<T>) {
    this.#read = read
  }

  /** The items page by page. */
  async *pages(): AsyncGenerator<T[], void, undefined> {
    let cursor: string | undefined
    do {
      const { items, nextCursor } = await this.#read(cursor)
      yield items
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  /** Every item, of all pages. */
  async toArray(): Promise<T[]> {
    const all: T[] = []
    for await (const items of this.pages()) all.push(...items)
    return all
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const items of this.pages()) yield* items
  }
}

type LaneFilter = Omit<NonNullable<ListLanesData['query']>, 'cursor' | 'groupBy'>

export interface LanesOf {
  /** Lists the worst lanes first, unless the filter says otherwise. */
  list(filter?: LaneFilter, options?: CallOptions): Listing<Lane>
}

/** Lanes of all topics: how many deliveries wait, and why. */
export function lanesOf(client: Client): LanesOf {
  const list = (filter: LaneFilter = {}, options?: CallOptions) =>
    new Listing<Lane>(async (cursor) => {
      const page = await listLanes({ client, ...options, query: { ...filter, cursor } })
      return { items: page.lanes, nextCursor: page.nextCursor }
    })
  return { list }
}
