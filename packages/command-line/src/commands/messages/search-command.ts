/** `fantail search` finds kept messages and dead letters by what they say, and `fantail find` anything by its name. */
import {
  type Client,
  type FoundDeadLetter,
  type FoundKeptMessage,
  type FoundName,
  findByName,
  searchDeadLetters,
  searchKeptMessages,
} from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { timeOf } from '../../output/durations.ts'
import { counted } from '../../output/text-table.ts'

interface SearchFlags {
  letters?: boolean
  type?: string
  topic?: string
  prefix?: string
  metadata?: string
  since?: string
  until?: string
  limit: string
}

export const search: Define = (command, does) => {
  command
    .argument('[text]', 'what the message, subject or attributes say; large and small letters are equal')
    .option('--letters', 'searches dead letters; default: the messages that topics keep')
    .option('--type <type>', 'only this event type: order.paid, or order.* for all below it')
    .option('--topic <topic>', 'only this topic')
    .option('--prefix <prefix>', 'only topics whose names begin so')
    .option('--metadata <key:value>', 'only what belongs to subscriptions with this in their metadata')
    .option('--since <time>', 'only from this time on: 10m ago, or ISO 8601')
    .option('--until <time>', 'only up to this time: 10m ago, or ISO 8601')
    .option('--limit <n>', 'at most this many', '20')
    .action(does(searchContent))
  examples(
    command,
    'search hooli --since 1d',
    'search --type order.* --prefix hooli- --limit 100 --json',
    'search 4711 --letters',
  )
}

async function searchContent(
  context: CommandContext,
  text: string | undefined,
  { letters, limit, ...flags }: SearchFlags,
): Promise<void> {
  const client = await context.api()
  const query = queryOf(text, flags)
  const max = readWhole(limit, '--limit', 1)
  const progress = context.out.progress('messages')
  const pages = letters ? letterPages(client, query, max) : keptPages(client, query, max)
  let scanned = 0
  for await (const page of pages) {
    scanned += page.scanned
    progress.update(scanned)
    page.print(context)
  }
  progress.end()
  if (!context.out.json) context.out.note(`looked at ${counted(scanned, 'message')}`)
}

function queryOf(text: string | undefined, flags: Omit<SearchFlags, 'letters' | 'limit'>) {
  const { type, topic, prefix, metadata, since, until } = flags
  return {
    ...(text !== undefined && { text }),
    ...(type !== undefined && { eventType: type }),
    ...(topic !== undefined && { topic }),
    ...(prefix !== undefined && { topicPrefix: prefix }),
    ...(metadata !== undefined && { metadata }),
    ...(since !== undefined && { since: timeOf(since, '--since') }),
    ...(until !== undefined && { until: timeOf(until, '--until') }),
  }
}

type Query = ReturnType<typeof queryOf>

/** The finds of one answer of the server. */
interface FoundPage {
  scanned: number
  print(context: CommandContext): void
}

/** Finds in one answer. Past it: the next one has the others. */
const FINDS_PER_ANSWER = 100

async function* keptPages(client: Client, query: Query, max: number): AsyncGenerator<FoundPage> {
  let cursor: string | undefined
  for (let left = max; left > 0; ) {
    const limit = Math.min(FINDS_PER_ANSWER, left)
    const { messages, scanned, nextCursor } = await searchKeptMessages({
      client,
      query: { ...query, limit, ...(cursor !== undefined && { cursor }) },
    })
    yield { scanned, print: ({ out }) => out.rows(messages, KEPT_COLUMNS) }
    if (nextCursor === null) return
    cursor = nextCursor
    left -= messages.length
  }
}

async function* letterPages(client: Client, query: Query, max: number): AsyncGenerator<FoundPage> {
  let cursor: string | undefined
  for (let left = max; left > 0; ) {
    const limit = Math.min(FINDS_PER_ANSWER, left)
    const { letters, scanned, nextCursor } = await searchDeadLetters({
      client,
      query: { ...query, limit, ...(cursor !== undefined && { cursor }) },
    })
    yield { scanned, print: ({ out }) => out.rows(letters, LETTER_COLUMNS) }
    if (nextCursor === null) return
    cursor = nextCursor
    left -= letters.length
  }
}

const nameOf = (arn: string) => arn.slice(arn.lastIndexOf(':') + 1)

const KEPT_COLUMNS = [
  { title: 'MESSAGE', of: (row: FoundKeptMessage) => row.messageId },
  { title: 'PUBLISHED', of: (row: FoundKeptMessage) => row.publishedAt },
  { title: 'TOPIC', of: (row: FoundKeptMessage) => nameOf(row.topicArn) },
  { title: 'TYPE', of: (row: FoundKeptMessage) => row.eventType },
  { title: 'CONTENT', of: (row: FoundKeptMessage) => row.line },
]

const LETTER_COLUMNS = [
  { title: 'MESSAGE', of: (row: FoundDeadLetter) => row.messageId },
  { title: 'PUBLISHED MESSAGE', of: (row: FoundDeadLetter) => row.publishedMessageId },
  { title: 'QUEUE', of: (row: FoundDeadLetter) => nameOf(row.queueArn) },
  { title: 'SINCE', of: (row: FoundDeadLetter) => row.deadLetteredAt },
  { title: 'LAST', of: (row: FoundDeadLetter) => row.statusCode ?? row.lastError ?? row.reason },
  { title: 'TYPE', of: (row: FoundDeadLetter) => row.eventType },
  { title: 'CONTENT', of: (row: FoundDeadLetter) => row.line },
]

export const find: Define = (command, does) => {
  command
    .argument('<words...>', 'words of names, topics, hosts and metadata, in any order')
    .option('--limit <n>', 'at most this many, up to 50', '20')
    .action(
      does(async ({ api, out }, words: string[], { limit }: { limit: string }) => {
        const query = { text: words.join(' '), limit: readWhole(limit, '--limit', 1) }
        const { found, matched, complete } = await findByName({ client: await api(), query })
        out.rows(found, NAME_COLUMNS)
        const end = complete ? '' : '; the server has more names than it searches'
        if (!out.json) out.note(`${found.length} of ${matched} found${end}`)
      }),
    )
  examples(command, 'find hooli orders ERP', 'find erp --json')
}

const NAME_COLUMNS = [
  { title: 'ID', of: (row: FoundName) => row.id },
  { title: 'KIND', of: (row: FoundName) => row.kind },
  { title: 'NAME', of: (row: FoundName) => row.name },
  { title: 'TOPIC', of: (row: FoundName) => row.topic },
  { title: 'HOST', of: (row: FoundName) => row.host },
]
