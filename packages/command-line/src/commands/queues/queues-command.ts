/** `fantail queues` lists, makes, changes and deletes queues, and moves messages in and out. */
import {
  acknowledgeMessages,
  createQueue,
  deleteQueue,
  getQueue,
  listQueues,
  peekMessages,
  purgeQueue,
  type Queue,
  type QueueInput,
  receiveMessages,
  sendMessages,
  updateQueue,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { collect, readPairs, readText, readWhole } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList, pagesOf } from '../../frame/list-command.ts'
import { readSettings, type SettingsFlags, withSettings } from '../../frame/settings-input.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import { exitOf } from '../../output/exit-codes.ts'
import { counted, fieldsText } from '../../output/text-table.ts'

export const queues: Define = (command, does) => {
  addList(command, does, {
    summary: 'list queues by name',
    read: (client, query) => listQueues({ client, query }),
    items: (page) => page.queues,
    columns: [
      { title: 'QUEUE', of: (row) => row.name },
      { title: 'VISIBLE', of: (row) => row.counts.visible },
      { title: 'IN FLIGHT', of: (row) => row.counts.inFlight },
      { title: 'DELAYED', of: (row) => row.counts.delayed },
      { title: 'OLDEST', of: ({ oldestSeconds: age }) => (age === null ? '-' : durationText(age * 1_000)) },
    ],
    examples: ['queues list', 'queues list --quiet'],
  })
  const get = command.command('get').description('show one queue').argument('<queue>', 'name or ARN')
  get.action(does(async (context, queue: string) => show(context, await getQueue(await at(context, queue)))))
  examples(get, 'queues get jobs')
  defineSettings(command, does)
  defineRemove(command, does)
  definePeek(command, does)
  defineSend(command, does)
  defineReceive(command, does)
}

const at = async ({ api }: CommandContext, queue: string) => ({ client: await api(), path: { queue } })

interface QueueFlags extends SettingsFlags {
  visibility?: string
  retention?: string
  fifo?: boolean
  dlq?: string
  maxReceives: string
}

function defineSettings(command: Command, does: Does): void {
  for (const [name, act, text] of [
    ['create', createQueue, 'make a queue; one that exists gets the settings'],
    ['set', updateQueue, 'change settings of a queue'],
  ] as const) {
    const change = withSettings(command.command(name).description(text))
      .argument('<queue>', 'its name; FIFO queues end in .fifo')
      .option('--visibility <time>', 'how long a received message is hidden: 30s, 5m')
      .option('--retention <time>', 'how long messages are kept: 4d')
      .option('--fifo', 'keeps order within message groups')
      .option('--dlq <queue>', 'the queue for messages that were received too often')
      .option('--max-receives <n>', 'with --dlq: receives before a message goes there', '5')
    change.action(
      does(async (context, queue: string, flags: QueueFlags) => {
        const body = await settingsOf(flags, context)
        show(context, await act({ ...(await at(context, queue)), body }))
      }),
    )
    examples(
      change,
      `queues ${name} jobs --visibility 1m`,
      `queues ${name} jobs --dlq jobs-dlq --max-receives 3`,
    )
  }
}

async function settingsOf(flags: QueueFlags, context: CommandContext): Promise<QueueInput> {
  const { visibility, retention, fifo, dlq, maxReceives } = flags
  const seconds = (text: string, option: string) => parseDuration(text, option) / 1_000
  const maxReceiveCount = readWhole(maxReceives, '--max-receives', 1)
  return {
    ...(await readSettings(flags, context)),
    ...(visibility !== undefined && { visibilityTimeoutSeconds: seconds(visibility, '--visibility') }),
    ...(retention !== undefined && { retentionSeconds: seconds(retention, '--retention') }),
    ...(fifo && { fifo }),
    ...(dlq !== undefined && { redrivePolicy: { deadLetterTargetArn: dlq, maxReceiveCount } }),
  }
}

function defineRemove(command: Command, does: Does): void {
  const remove = command.command('rm').description('delete queues with their messages')
  remove.argument('<queues...>', 'names or ARNs').action(
    does(async (context, names: string[]) => {
      await confirm(`delete ${names.join(', ')} with all messages`, context)
      for (const queue of names) {
        const place = await at(context, queue)
        const sources = await deadLetterSourcesOf(place)
        await deleteQueue(place)
        context.out.item({ deleted: queue }, () => `deleted ${queue}`, queue)
        if (sources.length > 0) context.out.warn(stillNamed(queue, sources))
      }
    }),
  )
  examples(remove, 'queues rm jobs --yes')
  const purge = command.command('purge').description('delete all messages of a queue')
  purge.argument('<queue>', 'name or ARN').action(
    does(async (context, queue: string) => {
      const { counts } = await getQueue(await at(context, queue))
      const total = counts.visible + counts.inFlight + counts.delayed
      await confirm(`delete ${counted(total, 'message')} of ${queue}`, context)
      const result = await purgeQueue({ ...(await at(context, queue)), body: {} })
      context.out.item(
        result,
        () => `deleted ${counted('discarded' in result ? result.discarded : 0, 'message')}`,
      )
    }),
  )
  examples(purge, 'queues purge jobs --yes')
}

/** Deletion is allowed if there is no such queue, and with keys that may not read it. */
async function deadLetterSourcesOf(place: Awaited<ReturnType<typeof at>>): Promise<string[]> {
  try {
    const { arn, deadLetterSources } = await getQueue(place)
    return deadLetterSources.filter((source) => source !== arn)
  } catch (error) {
    if (['notFound', 'refused'].includes(exitOf(error))) return []
    throw error
  }
}

const SOURCES_SHOWN = 5

/** AWS allows it too, but the letters of others have no place to go now. */
function stillNamed(queue: string, sources: string[]): string {
  const more = sources.length > SOURCES_SHOWN ? ` and ${sources.length - SOURCES_SHOWN} more` : ''
  const names = sources.slice(0, SOURCES_SHOWN).join(', ') + more
  return `${queue} is still the dead-letter queue of ${names}. \`fantail doctor\` has the line that makes it again.`
}

function definePeek(command: Command, does: Does): void {
  const peek = command.command('peek').description('show messages without receiving them')
  peek
    .argument('<queue>', 'name or ARN')
    .option('--limit <n>', 'at most this many', '20')
    .action(
      does(async (context, queue: string, { limit }: { limit: string }) => {
        const place = await at(context, queue)
        const read = (query: object) => peekMessages({ ...place, query })
        for await (const rows of pagesOf(read, (page) => page.messages, readWhole(limit, '--limit', 1))) {
          context.out.rows(rows, [
            { title: 'MESSAGE', of: (row) => row.messageId },
            { title: 'RECEIVED', of: (row) => row.receiveCount },
            { title: 'SENT', of: (row) => row.sentAt },
            { title: 'TYPE', of: (row) => row.eventType },
            { title: 'CONTENT', of: (row) => row.line },
          ])
        }
      }),
    )
  examples(peek, 'queues peek jobs --limit 5', 'queues peek jobs --json')
}

interface SendFlags {
  attr?: string[]
  group?: string
  dedup?: string
  delay?: string
}

function defineSend(command: Command, does: Does): void {
  const send = command.command('send').description('send one message to a queue')
  send
    .argument('<queue>', 'name or ARN')
    .argument('[body]', 'the message; @FILE, or - for stdin', '-')
    .option('--attr <name=value>', 'an attribute: name=text or name:=JSON (again for more)', collect)
    .option('--group <id>', 'the message group; FIFO queues need one')
    .option('--dedup <id>', 'the deduplication id of a FIFO queue')
    .option('--delay <time>', 'how long the message is hidden first')
    .action(
      does(async (context, queue: string, given: string, { attr, group, dedup, delay }: SendFlags) => {
        const body = {
          body: await readText(given, context),
          ...(attr && { attributes: readPairs(attr, '--attr') as Record<string, string> }),
          ...(group !== undefined && { groupId: group }),
          ...(dedup !== undefined && { deduplicationId: dedup }),
          ...(delay !== undefined && { delaySeconds: parseDuration(delay, '--delay') / 1_000 }),
        }
        const receipt = (await sendMessages({ ...(await at(context, queue)), body })) as { messageId: string }
        context.out.item(receipt, () => receipt.messageId, receipt.messageId)
      }),
    )
  examples(send, `queues send jobs '{"job":1}'`, 'queues send jobs - < job.json')
}

function defineReceive(command: Command, does: Does): void {
  const receive = command.command('receive').description('receive messages; --ack deletes them')
  receive
    .argument('<queue>', 'name or ARN')
    .option('--max <n>', 'messages at most, up to 10', '1')
    .option('--wait <time>', 'how long to wait for a message', '0s')
    .option('--ack', 'acknowledges what was received, after it was printed')
    .action(
      does(
        async (context, queue: string, { max, wait, ack }: { max: string; wait: string; ack?: boolean }) => {
          const place = await at(context, queue)
          const body = {
            maxMessages: readWhole(max, '--max', 1),
            waitSeconds: Math.ceil(parseDuration(wait, '--wait') / 1_000),
          }
          const { messages } = await receiveMessages({ ...place, body })
          for (const message of messages) context.out.item(message, () => message.body, message.messageId)
          if (messages.length === 0) context.out.note('nothing to receive')
          if (!ack || messages.length === 0) return
          const receiptHandles = messages.map(({ receiptHandle }) => receiptHandle)
          await acknowledgeMessages({ ...place, body: { receiptHandles } })
        },
      ),
    )
  examples(receive, 'queues receive jobs --wait 20s --ack', 'queues receive jobs --max 10 --json')
}

function show({ out }: CommandContext, queue: Queue): void {
  const { visible, inFlight, delayed } = queue.counts
  out.item(
    queue,
    () =>
      fieldsText([
        ['queue', queue.name],
        ['arn', queue.arn],
        ['messages', `${visible} visible, ${inFlight} in flight, ${delayed} delayed`],
        ['visibility', durationText(queue.visibilityTimeoutSeconds * 1_000)],
        ['keeps', durationText(queue.retentionSeconds * 1_000)],
        ['dead letters go to', queue.redrivePolicy?.deadLetterTargetArn],
        ['after receives', queue.redrivePolicy?.maxReceiveCount],
        ['created', queue.createdAt],
      ]),
    queue.name,
  )
}
