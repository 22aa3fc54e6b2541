/** `fantail dlq` shows, exports and deletes dead letters. `fantail redrive` sends them again. */
import {
  countDeadLetters,
  deleteQueueMessage,
  listQueues,
  peekMessages,
  purgeQueue,
  type QueueMessage,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList, pagesOf } from '../../frame/list-command.ts'
import { durationText } from '../../output/durations.ts'
import type { ExitName } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { defineEdit } from './dlq-edit.ts'
import { type LetterFlags, letterFilter, letterQuery, withIds, withLetterFlags } from './letter-flags.ts'
import { follow } from './redrive-command.ts'

export const dlq: Define = (command, does) => {
  addList(command, does, {
    summary: 'list dead-letter queues',
    read: (client, query) => listQueues({ client, query }),
    items: ({ queues }) =>
      queues.filter((queue) => queue.deadLetterSources.length > 0 || queue.deadLettersOf !== null),
    columns: [
      { title: 'QUEUE', of: (row) => row.name },
      { title: 'LETTERS', of: ({ counts }) => counts.visible + counts.inFlight + counts.delayed },
      { title: 'OLDEST', of: ({ oldestSeconds: age }) => (age === null ? '-' : durationText(age * 1_000)) },
      { title: 'KEEPS', of: (row) => durationText(row.retentionSeconds * 1_000) },
      { title: 'OF', of: (row) => row.deadLettersOf ?? `${row.deadLetterSources.length} sources` },
    ],
    examples: ['dlq ls', 'dlq ls --json'],
  })
  defineShow(command, does)
  defineEdit(command, does)
  defineExport(command, does)
  defineRemove(command, does)
}

const at = async ({ api }: CommandContext, queue: string) => ({ client: await api(), path: { queue } })

const COLUMNS = [
  { title: 'MESSAGE', of: (row: QueueMessage) => row.messageId },
  { title: 'PUBLISHED MESSAGE', of: ({ deadLetter }: QueueMessage) => deadLetter?.publishedMessageId },
  { title: 'REASON', of: (row: QueueMessage) => row.deadLetter?.reason },
  { title: 'LAST', of: ({ deadLetter }: QueueMessage) => deadLetter?.statusCode ?? deadLetter?.lastError },
  { title: 'ATTEMPTS', of: (row: QueueMessage) => row.deadLetter?.attempts },
  { title: 'SINCE', of: (row: QueueMessage) => row.deadLetter?.deadLetteredAt ?? row.sentAt },
  {
    title: 'SUBSCRIPTION',
    of: ({ deadLetter }: QueueMessage) => deadLetter?.subscriptionArn.split(':').at(-1),
  },
  { title: 'TYPE', of: (row: QueueMessage) => row.eventType },
  { title: 'CONTENT', of: (row: QueueMessage) => row.line },
]

function defineShow(command: Command, does: Does): void {
  const show = command.command('show').description('count dead letters by cause, and show some')
  withLetterFlags(show)
    .argument('<queue>', 'name or ARN')
    .option('--limit <n>', 'letters at most', '20')
    .action(
      does(async (context, queue: string, { limit, ...flags }: LetterFlags & { limit: string }) => {
        const place = await at(context, queue)
        const max = readWhole(limit, '--limit', 1)
        const filter = letterQuery(flags)
        const { out } = context
        if (!out.json && !out.quiet) out.note(await groupsText(place, filter))
        const read = (query: object) => peekMessages({ ...place, query: { ...filter, ...query } })
        for await (const rows of pagesOf(read, ({ messages }) => messages, max)) out.rows(rows, COLUMNS)
      }),
    )
  examples(show, 'dlq show orders-dlq', 'dlq show orders-dlq --status 503 --since 1h --json')
}

async function purgeLetters(
  context: CommandContext,
  queue: string,
  { dryRun, ...flags }: LetterFlags & { dryRun?: boolean },
): Promise<ExitName | undefined> {
  const place = await at(context, queue)
  const filter = letterFilter(flags)
  const chosen = Object.keys(filter).length === 0 ? {} : { filter }
  const found = await purgeQueue({ ...place, body: { ...chosen, dryRun: true } })
  if (dryRun) {
    context.out.item(found, () => `${matchedOf(found)} would be deleted`)
    return undefined
  }
  const what = 'filter' in chosen ? 'dead letter' : 'message'
  await confirm(`delete ${counted(matchedOf(found), what)} of ${queue} permanently`, context)
  const result = await purgeQueue({ ...place, body: chosen })
  if ('id' in result) return follow(context, result.id)
  context.out.item(result, () => `deleted ${counted(result.discarded, what)}`)
}

function matchedOf({ matched = 0 }: { matched?: number }): number {
  return matched
}

/** One line with the number of letters and how far the server looked, and one line for each group of letters. */
async function groupsText(place: Awaited<ReturnType<typeof at>>, filter: object): Promise<string> {
  const query = { ...filter, groupBy: 'reason,statusCode,error' }
  const { groups = [], matched = 0, scannedTo } = await countDeadLetters({ ...place, query })
  const lines = groups.map(({ count, reason, statusCode, error }) => {
    const words = [reason, statusCode, error].filter((word) => word != null)
    return `${String(count).padStart(7)}  ${words.join(' ')}`
  })
  const end = scannedTo ? `, up to ${scannedTo}` : ''
  return [`${counted(matched, 'dead letter')}${end}`, ...lines].join('\n')
}

function defineExport(command: Command, does: Does): void {
  const exporting = command
    .command('export')
    .description('write dead letters to stdout, a JSON object per line')
  withLetterFlags(exporting)
    .argument('<queue>', 'name or ARN')
    .action(
      does(async (context, queue: string, flags: LetterFlags) => {
        const place = await at(context, queue)
        const progress = context.out.progress('letters')
        const read = (query: object) => peekMessages({ ...place, query: { ...letterQuery(flags), ...query } })
        let count = 0
        for await (const rows of pagesOf(read, ({ messages }) => messages)) {
          for (const row of rows) context.out.line(JSON.stringify(row))
          count += rows.length
          progress.update(count)
        }
        progress.end()
        context.out.note(`${counted(count, 'letter')}, kept in the queue`)
      }),
    )
  examples(
    exporting,
    'dlq export orders-dlq > letters.ndjson',
    'dlq export orders-dlq --reason expired | wc -l',
  )
}

function defineRemove(command: Command, does: Does): void {
  const purge = command.command('purge').description('delete all messages, or the letters that flags choose')
  withIds(withLetterFlags(purge))
    .argument('<queue>', 'name or ARN')
    .option('--dry-run', 'only counts what would be deleted')
    .action(does(purgeLetters))
  examples(purge, 'dlq purge orders-dlq --reason expired', 'dlq purge orders-dlq --status 404 --dry-run')
  const remove = command.command('rm').description('delete single dead letters')
  remove
    .argument('<queue>', 'name or ARN')
    .argument('<messages...>', 'ids of messages in the queue')
    .action(
      does(async (context, queue: string, ids: string[]) => {
        await confirm(`delete ${counted(ids.length, 'dead letter')} of ${queue} permanently`, context)
        const { client } = await at(context, queue)
        for (const messageId of ids) {
          await deleteQueueMessage({ client, path: { queue, messageId } })
          context.out.item({ deleted: messageId }, () => `deleted ${messageId}`, messageId)
        }
      }),
    )
  examples(remove, 'dlq rm orders-dlq 059f36b4-87a3-44ab-83d2-661975830a7d')
}
