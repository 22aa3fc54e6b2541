/** The command `list`, such as `topics list`: reads pages from the API, and prints a table or lines. */

import type { Client } from '@fantail/client/api'
import type { Command } from 'commander'
import type { Column } from '../output/output.ts'
import type { Does } from './command-context.ts'
import { readWhole } from './command-input.ts'
import { examples } from './examples.ts'
import { pagesOf } from './list-pages.ts'

interface ListOf<P, T> {
  summary: string
  /** Words for the help that name the listed things. */
  words?: string
  read: (client: Client, query: { limit: number; cursor?: string }, words: string[]) => Promise<P>
  items: (page: P) => T[]
  columns: Column<T>[]
  examples: string[]
}

export function addList<P extends { nextCursor: string | null }, T extends object>(
  command: Command,
  does: Does,
  { summary, words = '', read, items, columns, examples: lines }: ListOf<P, T>,
): void {
  const list = command.command(`list ${words}`.trim()).alias('ls').description(summary)
  list.option('--limit <n>', 'at most this many').action(
    does(async ({ api, out }, ...given: unknown[]) => {
      const names = given.filter((word) => typeof word === 'string')
      const { limit } = given[names.length] as { limit?: string }
      const client = await api()
      const max = limit === undefined ? undefined : readWhole(limit, '--limit', 1)
      for await (const rows of pagesOf((query) => read(client, query, names), items, max))
        out.rows(rows, columns)
    }),
  )
  examples(list, ...lines)
}
