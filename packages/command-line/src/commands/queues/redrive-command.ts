/** `fantail redrive` sends dead letters again, and controls the task that does it. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Client,
  cancelRedrive,
  getRedrive,
  listRedrives,
  pauseRedrive,
  type Redrive,
  type RedriveDryRun,
  resumeRedrive,
  startRedrive,
  updateRedrive,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { readRate, readWhole } from '../../frame/command-input.ts'
import { addList } from '../../frame/list-command.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import type { Progress } from '../../output/progress.ts'
import { fieldsText } from '../../output/text-table.ts'
import { type LetterFlags, letterFilter, withIds, withLetterFlags } from './letter-flags.ts'
import { RedriveKeys } from './redrive-keys.ts'
import { RedriveEnds, withEditedEnd } from './redrive-watch-ends.ts'

const WATCH_EVERY_MS = 300

export const redrive: Define = (command, does) => {
  defineStart(command, does)
  defineSteps(command, does)
  addList(command, does, {
    summary: 'list redrives, the latest first',
    read: (client, query) => listRedrives({ client, query }),
    items: (page) => page.redrives,
    columns: [
      { title: 'REDRIVE', of: (row) => row.id },
      { title: 'STATUS', of: (row) => row.status },
      { title: 'MOVED', of: (row) => `${row.moved} of ${row.matched}` },
      { title: 'SOURCE', of: (row) => row.source.split(':').at(-1) },
      { title: 'STARTED', of: (row) => row.startedAt },
    ],
    examples: ['redrive list --limit 5'],
  })
}

interface StartFlags extends LetterFlags {
  rate?: string
  to?: string
  canary?: string
  dryRun?: boolean
  watch?: boolean
}

function defineStart(command: Command, does: Does): void {
  const start = command
    .command('start', { isDefault: true })
    .description('send dead letters of a queue again')
  withIds(withLetterFlags(start))
    .argument('<queue>', 'the dead-letter queue, by name or ARN')
    .option('--rate <rate>', 'messages at most: 50/s')
    .option('--canary <n>', 'sends so many first, and pauses if they fail')
    .option('--to <queue>', 'moves them to this queue; default: where each came from')
    .option('--dry-run', 'only counts what would be sent')
    .option('--watch', 'shows the progress until it has ended; Ctrl-C leaves it running')
    .action(does(begin))
  examples(
    start,
    'redrive orders-dlq --status 503 --rate 50/s --canary 5 --watch',
    'redrive orders-dlq --since 1h --dry-run',
    'redrive orders-dlq --id 059f36b4-87a3-44ab-83d2-661975830a7d',
  )
}

async function begin(context: CommandContext, source: string, flags: StartFlags): Promise<ExitName> {
  const { rate, to, canary, dryRun, watch } = flags
  const answer = await startRedrive({
    client: await context.api(),
    body: {
      source,
      filter: letterFilter(flags),
      ...(to !== undefined && { destination: to }),
      ...(rate !== undefined && { maxMessagesPerSecond: readRate(rate, '--rate') }),
      ...(canary !== undefined && { canary: readWhole(canary, '--canary', 1) }),
      ...(dryRun && { dryRun }),
    },
  })
  if ('withoutOrigin' in answer) {
    context.out.item(answer, () => dryRunText(answer))
    return 'done'
  }
  if (watch) return follow(context, answer.id)
  context.out.item(answer, () => redriveText(answer), answer.id)
  return 'done'
}

function dryRunText({ matched, withoutOrigin, byStatusCode }: RedriveDryRun): string {
  const codes = Object.entries(byStatusCode).map(([code, count]) => `${code} ${count}`)
  return fieldsText([
    ['matches', matched],
    ['without origin', withoutOrigin],
    ['by status', codes.join(', ') || null],
  ])
}

/**
 * Follows the redrive until it ends. Ctrl-C ends only the command, not the redrive. `edited`: the new id of its letter,
 * if the letter was edited.
 */
export async function follow(context: CommandContext, id: string, edited?: string): Promise<ExitName> {
  const client = await context.api()
  const progress = context.out.progress('letters')
  const keys = new RedriveKeys(context, client)
  const leave = () => {
    progress.end()
    context.out.note(`it goes on: fantail redrive watch ${id}`)
  }
  context.signal.addEventListener('abort', leave)
  try {
    return await untilEnded(context, { client, id, edited, progress, keys, leave })
  } finally {
    keys.stop()
  }
}

interface Followed {
  client: Client
  id: string
  edited: string | undefined
  progress: Progress
  keys: RedriveKeys
  leave: () => void
}

async function untilEnded(context: CommandContext, followed: Followed) {
  const { client, id, edited, progress, keys, leave } = followed
  const ends = new RedriveEnds()
  for (;;) {
    const found = await getRedrive({ client, path: { id } })
    const task = edited === undefined ? found : await withEditedEnd(client, found, edited)
    keys.seen(task)
    if (context.out.json) context.out.line(JSON.stringify(task))
    else progress.update(task.moved + task.skipped, task.matched)
    ends.seen(task)
    if (ends.areAllIn) {
      progress.end()
      if (!context.out.json) context.out.item(task, () => redriveText(task), task.id)
      return endOf(task)
    }
    if (keys.isLeft) {
      leave()
      return 'done'
    }
    await delay(WATCH_EVERY_MS, undefined, { signal: context.signal })
  }
}

function endOf({ action, status, skipped, backInDlq, pauseReason, error }: Redrive): ExitName {
  if (status === 'failed')
    throw new CommandError('failed', `the ${action} failed: ${error ?? 'no reason given'}`)
  if (status === 'canceled') throw new CommandError('failed', `the ${action} was canceled`)
  return skipped + backInDlq > 0 || pauseReason !== undefined ? 'partlyDone' : 'done'
}

function redriveText({
  id,
  status,
  source,
  destination,
  matched,
  moved,
  skipped,
  delivered,
  backInDlq,
  discarded,
  pauseReason,
  maxMessagesPerSecond,
}: Redrive) {
  return fieldsText([
    ['redrive', id],
    ['status', status],
    ['source', source],
    ['destination', destination ?? 'where each came from'],
    ['moved', `${moved} of ${matched}`],
    ['skipped', skipped],
    ['delivered', delivered],
    ['dead again', backInDlq],
    ['discarded', discarded],
    ['paused because', pauseReason ?? null],
    ['rate', maxMessagesPerSecond === null ? 'no limit' : `${maxMessagesPerSecond}/s`],
  ])
}

function defineSteps(command: Command, does: Does): void {
  for (const [name, act, text] of [
    ['pause', pauseRedrive, 'move nothing for now'],
    ['resume', resumeRedrive, 'move on'],
    ['cancel', cancelRedrive, 'end it; what was moved stays moved'],
  ] as const) {
    const step = command.command(name).description(text).argument('<id>', 'id of the redrive')
    step.action(
      does(async ({ api, out }, id: string) => {
        const task = await act({ client: await api(), path: { id }, body: {} })
        out.item(task, () => redriveText(task), task.id)
      }),
    )
    examples(step, `redrive ${name} 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21`)
  }
  const get = command.command('get').description('show one redrive').argument('<id>', 'id of the redrive')
  get.action(
    does(async ({ api, out }, id: string) => {
      const task = await getRedrive({ client: await api(), path: { id } })
      out.item(task, () => redriveText(task), task.id)
    }),
  )
  examples(get, 'redrive get 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  const watch = command.command('watch').description('show the progress until it has ended')
  watch.argument('<id>', 'id of the redrive').action(does((context, id: string) => follow(context, id)))
  examples(watch, 'redrive watch 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  const rate = command.command('rate').description('change the rate; `none` removes the limit')
  rate
    .argument('<id>', 'id of the redrive')
    .argument('<rate>', '50/s, 600/m, none')
    .action(
      does(async ({ api, out }, id: string, given: string) => {
        const maxMessagesPerSecond = given === 'none' ? null : readRate(given, 'the rate')
        const task = await updateRedrive({
          client: await api(),
          path: { id },
          body: { maxMessagesPerSecond },
        })
        out.item(task, () => redriveText(task), task.id)
      }),
    )
  examples(rate, 'redrive rate 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21 100/s')
}
