/** Reads lists page by page. */

interface Page {
  nextCursor: string | null
}

/** Items of one page of a list. Past it: the next page is asked for. */
const LIST_PAGE_SIZE = 100

interface PageQuery {
  limit: number
  cursor?: string
}

/** Gives every item, with one page in memory at a time. `max` ends the list earlier. */
export async function* pagesOf<P extends Page, T>(
  read: (query: PageQuery) => Promise<P>,
  items: (page: P) => T[],
  max = Number.POSITIVE_INFINITY,
): AsyncGenerator<T[]> {
  let cursor: string | undefined
  for (let left = max; left > 0; ) {
    const page = await read({
      limit: Math.min(LIST_PAGE_SIZE, left),
      ...(cursor !== undefined && { cursor }),
    })
    const rows = items(page)
    left -= rows.length
    if (rows.length > 0) yield rows
    if (page.nextCursor === null) return
    cursor = page.nextCursor
  }
}
