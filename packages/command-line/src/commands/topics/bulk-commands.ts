/** The commands of `fantail lanes` that act on many lanes: a plan, the task that carries it out, its undo. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  type BulkPlanInput,
  type BulkTask,
  type Client,
  cancelBulkTask,
  getBulkTask,
  listBulkTasks,
  planBulk,
  startBulk,
  undoBulkTask,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Does, examples } from '../../frame/command-context.ts'
import { collect, readRate, readWhole } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import { fieldsText } from '../../output/text-table.ts'

const TASK_EVERY_MS = 300
/** Refused objects and failures that a text shows. Past it: `--json` has the others. */
const SHOWN = 10

type Action = BulkPlanInput['action']

const ACTIONS: [name: Action, summary: string][] = [
  ['pause', 'stop attempts of many lanes; undo resumes exactly those that it paused'],
  ['resume', 'continue attempts of many lanes'],
  ['retry', 'make what waits for a retry due now'],
  ['test', 'make one attempt at each endpoint'],
  ['redrive', 'send the dead letters of many lanes again'],
  ['purge', 'discard what waits in many lanes'],
  ['erase', 'delete everything of a customer: of --topic-prefix, or of --metadata'],
]

interface SelectFlags {
  host?: string[]
  topic?: string
  topicPrefix?: string
  state?: string
  status?: string
  q?: string
  metadata?: string
  rate?: string
  plan?: boolean
}

export function defineBulk(command: Command, does: Does): void {
  for (const [name, summary] of ACTIONS) defineAction(command, does, { name, summary })
  defineSteps(command, does)
  defineTasks(command, does)
}

function defineAction(command: Command, does: Does, { name, summary }: { name: Action; summary: string }) {
  const action = command
    .command(name)
    .description(summary)
    .argument('[ids...]', 'ids or ARNs of subscriptions; default: all that the flags select')
    .option('--host <host>', 'only lanes to this host (again for more)', collect)
    .option('--topic <topic>', 'only lanes of this topic')
    .option('--topic-prefix <text>', 'only lanes of topics whose names begin with this')
    .option('--state <verdict>', 'only lanes with this verdict, such as failing, or inNeed')
    .option('--status <status>', 'only active, paused or pending subscriptions')
    .option('--q <text>', 'only lanes with this text in endpoint, name, topic or id')
    .option('--metadata <name=text>', 'only subscriptions with this member of the metadata')
    .option('--plan', 'only says what would be done')
  if (name === 'retry' || name === 'redrive') action.option('--rate <rate>', 'at most, for each: 50/s')
  action.action(does((context, ids: string[], flags: SelectFlags) => act(context, name, { ids, flags })))
  const select =
    name === 'erase'
      ? ['--topic-prefix acme-', '--metadata customer=acme']
      : ['--host crm.example.com', '--topic orders']
  examples(action, `lanes ${name} ${select[0]} --plan`, `lanes ${name} ${select[1]} --yes`)
}

async function act(
  context: CommandContext,
  action: Action,
  { ids, flags }: { ids: string[]; flags: SelectFlags },
): Promise<ExitName> {
  const client = await context.api()
  const { rate, plan: onlyPlan } = flags
  const body = {
    action,
    select: selectOf(ids, flags),
    ...(rate !== undefined && { maxPerSecond: readRate(rate, '--rate') }),
  }
  const plan = await planBulk({ client, body })
  if (onlyPlan) {
    context.out.item(plan, () => taskText(plan), plan.id)
    return 'done'
  }
  if (plan.total === 0) throw new CommandError('failed', 'the flags select no lane to act on')
  await confirm(plan.words, context)
  await startBulk({ client, body: { plan: plan.id } })
  return follow(context, client, plan.id)
}

function selectOf(ids: string[], flags: SelectFlags): BulkPlanInput['select'] {
  const { host: hosts, topic, topicPrefix, state, status, q, metadata } = flags
  const [key = '', ...value] = metadata?.split('=') ?? []
  const select = {
    ...(ids.length > 0 && { subscriptions: ids }),
    ...(hosts && { hosts }),
    ...(topic !== undefined && { topic }),
    ...(topicPrefix !== undefined && { topicPrefix }),
    ...(state !== undefined && { state }),
    ...(status !== undefined && { status }),
    ...(q !== undefined && { q }),
    ...(metadata !== undefined && { metadata: { key, value: value.join('=') } }),
  } as BulkPlanInput['select']
  if (Object.keys(select).length === 0)
    throw new CommandError(
      'usage',
      'nothing is selected',
      'Name subscriptions, or give a flag such as --host.',
    )
  return select
}

/** Follows the task until it ends. Ctrl-C ends only the command. */
async function follow(context: CommandContext, client: Client, id: string): Promise<ExitName> {
  const progress = context.out.progress('steps')
  const leave = () => {
    progress.end()
    context.out.note(`it goes on: fantail lanes watch ${id}`)
  }
  context.signal.addEventListener('abort', leave)
  for (;;) {
    const task = await getBulkTask({ client, path: { id } })
    progress.update(task.done, task.total)
    if (task.endedAt !== null) {
      progress.end()
      context.out.item(task, () => taskText(task), task.id)
      if (task.status === 'canceled') throw new CommandError('failed', `the ${task.action} was canceled`)
      return task.failed > 0 ? 'partlyDone' : 'done'
    }
    await delay(TASK_EVERY_MS, undefined, { signal: context.signal })
  }
}

function defineSteps(command: Command, does: Does): void {
  const watch = command.command('watch').description('show the progress of a task until it has ended')
  watch
    .argument('<id>', 'id of the task')
    .action(does(async (context, id: string) => follow(context, await context.api(), id)))
  examples(watch, 'lanes watch 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  const cancel = command.command('cancel').description('end a task; what was done stays done')
  cancel.argument('<id>', 'id of the task').action(
    does(async ({ api, out }, id: string) => {
      const task = await cancelBulkTask({ client: await api(), path: { id }, body: {} })
      out.item(task, () => taskText(task), task.id)
    }),
  )
  examples(cancel, 'lanes cancel 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
  const undo = command.command('undo').description('undo a pause or resume of many')
  undo.argument('<id>', 'id of the task').action(
    does(async (context, id: string) => {
      const client = await context.api()
      const task = await undoBulkTask({ client, path: { id }, body: {} })
      return follow(context, client, task.id)
    }),
  )
  examples(undo, 'lanes undo 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
}

function defineTasks(command: Command, does: Does): void {
  const tasks = command.command('tasks').description('list tasks that acted on many, the latest first')
  tasks.option('--limit <n>', 'tasks at most, up to 100', '20').action(
    does(async ({ api, out }, { limit }: { limit: string }) => {
      const query = { limit: readWhole(limit, '--limit', 1) }
      const answer = await listBulkTasks({ client: await api(), query })
      out.rows(answer.tasks, COLUMNS)
    }),
  )
  examples(tasks, 'lanes tasks', 'lanes tasks --limit 5 --json')
}

const COLUMNS = [
  { title: 'TASK', of: (row: BulkTask) => row.id },
  { title: 'STATUS', of: (row: BulkTask) => row.status },
  { title: 'DONE', of: (row: BulkTask) => `${row.done} of ${row.total}` },
  { title: 'FAILED', of: (row: BulkTask) => row.failed },
  { title: 'PLAN', of: (row: BulkTask) => row.words },
]

function taskText(task: BulkTask): string {
  const { id, status, words, done, total, failed, results, refused, failures, canUndo } = task
  const said = [...refused.first, ...failures].slice(0, SHOWN)
  const lines = fieldsText([
    ['task', id],
    ['plan', words],
    ['status', status],
    ['done', `${done} of ${total}`],
    ['failed', failed],
    ['left out', refused.count],
    ...Object.entries(results).map(([name, count]): [string, number] => [name, count]),
    ...said.map(({ object, code, message }): [string, string] => [code, `${object}: ${message}`]),
  ])
  return canUndo ? `${lines}\nundo with: fantail lanes undo ${id}` : lines
}
