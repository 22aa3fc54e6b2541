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
