/** `fantail topics` lists, shows, makes, changes and deletes topics. */
import {
  createTopic,
  deleteTopic,
  getTopic,
  listTopics,
  type Topic,
  type TopicInput,
  updateTopic,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'
import {
  type PolicyFlags,
  readPolicy,
  readSettings,
  type SettingsFlags,
  withPolicy,
  withSettings,
} from '../../frame/settings-input.ts'
import { durationText, parseDuration } from '../../output/durations.ts'
import { fieldsText } from '../../output/text-table.ts'

export const topics: Define = (command, does) => {
  addList(command, does, {
    summary: 'list topics by name',
    flags: { '--prefix <text>': 'only names that begin with it' },
    read: (client, query) => listTopics({ client, query }),
    items: (page) => page.topics,
    columns: [
      { title: 'TOPIC', of: (row) => row.name },
      { title: 'ACTIVE', of: (row) => row.subscriptions.active },
      { title: 'PAUSED', of: (row) => row.subscriptions.paused },
      { title: 'PENDING', of: (row) => row.subscriptions.pending },
      { title: 'KIND', of: (row) => (row.fifo ? 'FIFO' : 'standard') },
      { title: 'KEEPS', of: (row) => durationText(row.retentionSeconds * 1_000) },
    ],
    examples: ['topics list', 'topics list --prefix shop- --quiet'],
  })
  const get = command.command('get').description('show one topic').argument('<topic>', 'name or ARN')
  get.action(does(async (context, name: string) => show(context, await read(context, name))))
  examples(get, 'topics get orders', 'topics get orders --json')
  defineCreate(command, does)
  defineSet(command, does)
  defineRemove(command, does)
}

interface TopicFlags extends SettingsFlags, PolicyFlags {
  displayName?: string
  retention?: string
  fifo?: boolean
}

function withTopicFlags(command: Command): Command {
  return withPolicy(withSettings(command))
    .option('--display-name <text>', 'the name that readers of mails see')
    .option('--retention <time>', 'how long deliveries are kept: 12h, 4d')
}

async function settingsOf(flags: TopicFlags, context: CommandContext): Promise<TopicInput> {
  const { displayName, retention, fifo } = flags
  return {
    ...(await readSettings(flags, context)),
    ...(await readPolicy(flags, context)),
    ...(displayName !== undefined && { displayName }),
    ...(retention !== undefined && { retentionSeconds: parseDuration(retention, '--retention') / 1_000 }),
    ...(fifo && { fifo }),
  }
}

function defineCreate(command: Command, does: Does): void {
  const create = command.command('create').description('make a topic; one that exists gets the settings')
  withTopicFlags(create)
    .argument('<topic>', 'its name; FIFO topics end in .fifo')
    .option('--fifo', 'keeps order within message groups')
    .action(
      does(async (context, topic: string, flags: TopicFlags) => {
        const body = await settingsOf(flags, context)
        show(context, await createTopic({ client: await context.api(), path: { topic }, body }))
      }),
    )
  examples(
    create,
    'topics create orders',
    'topics create orders.fifo --fifo',
    'topics create bulk --rate 50/s',
  )
}

function defineSet(command: Command, does: Does): void {
  const set = command.command('set').description('change settings of a topic')
  withTopicFlags(set)
    .argument('<topic>', 'name or ARN')
    .action(
      does(async (context, topic: string, flags: TopicFlags) => {
        const body = await settingsOf(flags, context)
        show(context, await updateTopic({ client: await context.api(), path: { topic }, body }))
      }),
    )
  examples(set, 'topics set orders --curve patient', 'topics set orders --set signing=sns --retention 2d')
}

function defineRemove(command: Command, does: Does): void {
  const remove = command.command('rm').description('delete topics with their subscriptions')
  remove.argument('<topics...>', 'names or ARNs').action(
    does(async (context, names: string[]) => {
      await confirm(`delete ${names.join(', ')} with all subscriptions and waiting deliveries`, context)
      const client = await context.api()
      for (const topic of names) {
        await deleteTopic({ client, path: { topic } })
        context.out.item({ deleted: topic }, () => `deleted ${topic}`, topic)
      }
    }),
  )
  examples(remove, 'topics rm orders', 'topics rm test-1 test-2 --yes')
}

async function read({ api }: CommandContext, topic: string): Promise<Topic> {
  return getTopic({ client: await api(), path: { topic } })
}

function show({ out }: CommandContext, topic: Topic): void {
  const { active, paused, pending } = topic.subscriptions
  const { throttlePolicy } = topic.effectiveDeliveryPolicy
  out.item(
    topic,
    () =>
      fieldsText([
        ['topic', topic.name],
        ['arn', topic.arn],
        ['kind', topic.fifo ? 'FIFO' : 'standard'],
        ['subscriptions', `${active} active, ${paused} paused, ${pending} pending`],
        ['keeps', durationText(topic.retentionSeconds * 1_000)],
        ['throttle', throttlePolicy ? `${throttlePolicy.maxReceivesPerSecond}/s` : null],
        ['signing', topic.signing],
        ['created', topic.createdAt],
      ]),
    topic.name,
  )
}
