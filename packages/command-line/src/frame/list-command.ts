/** The command `list`, such as `topics list`: reads pages from the API, and prints a table or lines. */
import type { Client } from '@fantail/client/api'
import type { Command } from 'commander'
import type { Column } from '../output/output.ts'
import { type Does, examples } from './command-context.ts'
import { readWhole } from './command-input.ts'

interface ListOf<P, T> {
  summary: string
  /** Words for the help that name the listed things. */
  words?: string
  /** Further flags and their help. Their values are members of the query. */
  flags?: Record<string, string>
  read: (client: Client, query: { limit: number; cursor?: string }, words: string[]) => Promise<P>
  items: (page: P) => T[]
  columns: Column<T>[]
  examples: string[]
}

export function addList<P extends { nextCursor: string | null }, T extends object>(
  command: Command,
  does: Does,
  { summary, words = '', flags = {}, read, items, columns, examples: lines }: ListOf<P, T>,
): void {
  const list = command.command(`list ${words}`.trim()).alias('ls').description(summary)
  for (const [flag, help] of Object.entries(flags)) list.option(flag, help)
  list.option('--limit <n>', 'at most this many').action(
    does(async ({ api, out }, ...given: unknown[]) => {
      const names = given.filter((word) => typeof word === 'string')
      const { limit, ...filter } = given[names.length] as { limit?: string }
      const client = await api()
      const max = limit === undefined ? undefined : readWhole(limit, '--limit', 1)
      for await (const rows of pagesOf((page) => read(client, { ...filter, ...page }, names), items, max))
        out.rows(rows, columns)
    }),
  )
  examples(list, ...lines)
}

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
