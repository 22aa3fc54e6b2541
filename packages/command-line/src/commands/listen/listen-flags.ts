/** The flags of `fantail listen`, read and checked. */
import type { CommandContext } from '../../frame/command-context.ts'
import { readObject, readWhole } from '../../frame/command-input.ts'
import { parseDuration } from '../../output/durations.ts'
import { CommandError } from '../../output/exit-codes.ts'

export interface ListenFlags {
  forwardTo?: string
  as?: string
  printSecret?: boolean
  record?: string
  filter?: string
  filterScope?: string
  header?: string[]
  skipVerify?: boolean
  raw?: boolean
  keep: string
  concurrency: string
}

export interface ListenWanted {
  topics: string[]
  url: URL
  headers: Record<string, string>
  filterPolicy: Record<string, unknown> | undefined
  filterPolicyScope: 'MessageAttributes' | 'MessageBody'
  leaseSeconds: number
  concurrency: number
}

/** Flags that set what `--as` takes from the subscription. They cannot be combined with `--as`. */
const BROUGHT = { filter: '--filter', filterScope: '--filter-scope', raw: '--raw' } as const

export async function readListenFlags(
  topics: string | undefined,
  flags: ListenFlags,
  context: CommandContext,
): Promise<ListenWanted> {
  if (flags.forwardTo === undefined)
    throw new CommandError('usage', '--forward-to is missing', 'Give one such as localhost:3000/hooks.')
  if (flags.as !== undefined) checkAs(topics, flags)
  else if (topics === undefined)
    throw new CommandError('usage', 'the topics are missing', 'Name topics, or a subscription with --as.')
  return {
    topics: topics?.split(',').filter((topic) => topic !== '') ?? [],
    url: readUrl(flags.forwardTo, '--forward-to'),
    headers: Object.fromEntries((flags.header ?? []).map(readHeader)),
    filterPolicy: flags.filter ? await readObject(flags.filter, '--filter', context) : undefined,
    filterPolicyScope: readScope(flags.filterScope ?? 'attributes'),
    leaseSeconds: Math.ceil(parseDuration(flags.keep, '--keep') / 1_000),
    concurrency: readWhole(flags.concurrency, '--concurrency', 1),
  }
}

function checkAs(topics: string | undefined, flags: ListenFlags): void {
  const both = Object.entries(BROUGHT).find(([name]) => flags[name as keyof typeof BROUGHT] !== undefined)
  const other = topics === undefined ? both?.[1] : 'a topic'
  if (other !== undefined)
    throw new CommandError(
      'usage',
      `--as takes topic, filter and form from the subscription, so ${other} is too much`,
    )
}

/**
 * `localhost:3000/hooks` stands for `http://localhost:3000/hooks`, and so does `3000/hooks`. The parser of URLs would
 * read a bare number as an IPv4 address.
 */
export function readUrl(given: string, option: string): URL {
  const text = given.replace(/^:?(?=\d+(?:[/?#]|$))/, 'localhost:')
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw new CommandError(
    'usage',
    `${option} is not an http or https address without credentials: ${given}`,
    'Give one such as localhost:3000/hooks.',
  )
}

function readHeader(given: string): [string, string] {
  const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(given) ?? []
  if (name !== '') return [name, value]
  throw new CommandError('usage', `--header must be "Name: value", not ${given}`)
}

function readScope(scope: string): ListenWanted['filterPolicyScope'] {
  if (scope === 'attributes') return 'MessageAttributes'
  if (scope === 'body') return 'MessageBody'
  throw new CommandError('usage', `--filter-scope must be attributes or body, not ${scope}`)
}
