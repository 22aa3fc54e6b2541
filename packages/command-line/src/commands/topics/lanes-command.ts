/** `fantail lanes` lists what is stuck, worst first, and why, and acts on many lanes. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Lane, type ListLanesData, listLanes } from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { durationText } from '../../output/durations.ts'
import { counted } from '../../output/text-table.ts'
import { defineBulk } from './bulk-commands.ts'

const LANES_EVERY_MS = 2_000

type Query = NonNullable<ListLanesData['query']>

interface LanesFlags {
  topic?: string
  topicPrefix?: string
  state?: Query['state']
  host?: string
  sort?: Query['sort']
  q?: string
  limit: string
  watch?: boolean
}

export const lanes: Define = (command, does) => {
  const list = command.command('list', { isDefault: true }).description('list what is stuck, worst first')
  list
    .option('--topic <topic>', 'only lanes of this topic')
    .option('--topic-prefix <text>', 'only lanes of topics whose names begin with this')
    .option(
      '--state <verdict>',
      'only lanes with this verdict, such as failing; inNeed: all that need attention',
    )
    .option('--host <host>', 'only lanes to this host, with its port')
    .option('--sort <order>', 'worst, oldest or waiting (default: worst)')
    .option('--q <text>', 'only lanes with this text in endpoint or name')
    .option('--limit <n>', 'lanes at most, up to 100', '20')
    .option('--watch', 'looks again every two seconds, until Ctrl-C')
    .action(does(showLanes))
  examples(list, 'lanes', 'lanes --state inNeed --json', 'lanes --topic orders --watch')
  defineBulk(command, does)
}

async function showLanes(context: CommandContext, { limit, watch, ...filter }: LanesFlags): Promise<void> {
  const client = await context.api()
  const query = { ...filter, limit: readWhole(limit, '--limit', 1) }
  for (;;) {
    const answer = await listLanes({ client, query })
    if (watch && context.isTerminal && !context.out.json) context.out.raw('\u001b[2J\u001b[H')
    context.out.rows(answer.lanes, COLUMNS)
    context.out.note(
      `${counted(answer.matched, 'lane')}, ${counted(answer.waiting, 'waiting delivery', 'waiting deliveries')}` +
        (answer.complete ? '' : '; there are more'),
    )
    if (!watch) return
    await delay(LANES_EVERY_MS, undefined, { signal: context.signal })
  }
}

const seconds = (value: number | null) => (value === null ? '-' : durationText(value * 1_000))

const COLUMNS = [
  { title: 'SUBSCRIPTION', of: (row: Lane) => row.subscriptionId },
  { title: 'VERDICT', of: (row: Lane) => row.verdict.code },
  { title: 'TOPIC', of: (row: Lane) => row.topicArn.split(':').at(-1) },
  { title: 'WAITING', of: (row: Lane) => row.lane.waiting },
  { title: 'OLDEST', of: (row: Lane) => seconds(row.lane.oldestWaitingSeconds) },
  { title: 'ENDPOINT', of: (row: Lane) => row.endpoint },
  { title: 'WHY', of: (row: Lane) => row.verdict.sentence },
]
