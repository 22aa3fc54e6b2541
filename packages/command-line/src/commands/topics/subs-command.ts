/** `fantail subs` lists, makes, changes and deletes subscriptions, and acts on them. */
import {
  createWebhookKey,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
  type NewSubscription,
  pauseSubscription,
  resumeSubscription,
  retryNow,
  type Subscription,
  setMessageAside,
  subscribe,
  testSubscription,
  updateSubscription,
} from '@fantail/client/api'
import type { Command } from 'commander'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'
import { collect, readJson, readObject, readPairs, readRate } from '../../frame/command-input.ts'
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
import { counted } from '../../output/text-table.ts'
import { subscriptionText } from './subscription-text.ts'

export const subs: Define = (command, does) => {
  addList(command, does, {
    summary: 'list subscriptions',
    flags: {
      '--topic <topic>': 'only those of this topic',
      '--status <status>': 'only active, paused or pending ones',
      '--endpoint <endpoint>': 'only those with this endpoint',
      '--name <name>': 'only those with this name',
    },
    read: (client, query) => listSubscriptions({ client, query }),
    items: (page) => page.subscriptions,
    columns: [
      { title: 'ID', of: (row) => row.id },
      { title: 'TOPIC', of: (row) => row.topicArn.slice(row.topicArn.lastIndexOf(':') + 1) },
      { title: 'STATUS', of: (row) => row.status },
      { title: 'WAITING', of: (row) => row.lane.waiting },
      { title: 'ENDPOINT', of: (row) => row.endpoint },
    ],
    examples: ['subs list --topic orders', 'subs list --status paused --json'],
  })
  const get = command.command('get').description('show one subscription').argument('<id>', 'id or ARN')
  get.action(does(async (context, id: string) => show(context, await getSubscription(await at(context, id)))))
  examples(get, 'subs get 5f0c1e4e-…', 'subs get 5f0c1e4e-… --json')
  defineAdd(command, does)
  defineSet(command, does)
  defineRemove(command, does)
  definePauses(command, does)
  defineRetry(command, does)
  defineTest(command, does)
  defineSetAside(command, does)
  defineRotate(command, does)
}

const at = async ({ api }: CommandContext, id: string) => ({ client: await api(), path: { id } })

interface SubFlags extends SettingsFlags, PolicyFlags {
  filter?: string
  filterScope?: 'body' | 'attributes'
  types?: string
  name?: string
  metadata?: string[]
  dlq?: string
  raw?: boolean
  protocol?: NewSubscription['protocol']
}

function withSubFlags(command: Command): Command {
  return withPolicy(withSettings(command))
    .option('--filter <json>', 'the filter policy as JSON, @FILE, or - for stdin; null removes it')
    .option('--filter-scope <scope>', 'what the filter looks at: body or attributes')
    .option('--types <names>', 'event types by comma: order.paid, order.* or *; null removes the choice')
    .option('--name <text>', 'a name for people')
    .option('--metadata <name=text>', 'a member of the metadata (again for more)', collect)
    .option('--dlq <queue>', 'the queue for what cannot be delivered')
    .option('--raw', 'sends the message alone, without the envelope')
    .option('--no-raw', 'sends the envelope')
}

async function settingsOf(flags: SubFlags, context: CommandContext): Promise<object> {
  const { filter, filterScope, types, name, metadata, dlq, raw, protocol } = flags
  const scope = filterScope === 'body' ? 'MessageBody' : 'MessageAttributes'
  return {
    ...(await readSettings(flags, context)),
    ...(await readPolicy(flags, context)),
    ...(filter !== undefined && { filterPolicy: await readJson(filter, '--filter', context) }),
    ...(filterScope !== undefined && { filterPolicyScope: scope }),
    ...(types !== undefined && { eventTypes: types === 'null' ? null : types.split(',') }),
    ...(name !== undefined && { name }),
    ...(metadata && { metadata: readPairs(metadata, '--metadata') }),
    ...(dlq !== undefined && { redrivePolicy: { deadLetterTargetArn: dlq } }),
    ...(raw !== undefined && { rawMessageDelivery: raw }),
    ...(protocol !== undefined && { protocol }),
  }
}

function defineAdd(command: Command, does: Does): void {
  const add = command.command('add').description('subscribe an endpoint to a topic')
  withSubFlags(add)
    .argument('<topic>', 'name or ARN')
    .argument('<endpoint>', 'a URL, a queue’s ARN, an address, a number …')
    .option('--protocol <name>', 'the kind of the endpoint, where the endpoint does not say it')
    .action(
      does(async (context, topic: string, endpoint: string, flags: SubFlags) => {
        const body = { ...(await settingsOf(flags, context)), endpoint }
        show(context, await subscribe({ client: await context.api(), path: { topic }, body }))
      }),
    )
  examples(
    add,
    'subs add orders https://crm.example.com/in --rate 20/s --curve patient --dlq orders-dlq',
    'subs add orders https://erp.example.com/in --types order.paid,refund.*',
    `subs add orders https://bi.example.com/in --filter '{"region":["eu"]}'`,
    'subs add orders arn:aws:sqs:us-east-1:000000000000:jobs --raw',
  )
}

function defineSet(command: Command, does: Does): void {
  const set = command.command('set').description('change settings of a subscription')
  withSubFlags(set)
    .argument('<id>', 'id or ARN')
    .action(
      does(async (context, id: string, flags: SubFlags) => {
        const body = await settingsOf(flags, context)
        show(context, await updateSubscription({ ...(await at(context, id)), body }))
      }),
    )
  examples(set, 'subs set 5f0c1e4e-… --rate 5/s', 'subs set 5f0c1e4e-… --filter null --set maxInFlight:=8')
}

function defineRemove(command: Command, does: Does): void {
  const remove = command.command('rm').description('delete subscriptions with what waits for them')
  remove.argument('<ids...>', 'ids or ARNs').action(
    does(async (context, ids: string[]) => {
      await confirm(`delete ${ids.join(', ')} with all waiting deliveries`, context)
      for (const id of ids) {
        await deleteSubscription(await at(context, id))
        context.out.item({ deleted: id }, () => `deleted ${id}`, id)
      }
    }),
  )
  examples(remove, 'subs rm 5f0c1e4e-… --yes')
}

function definePauses(command: Command, does: Does): void {
  for (const [name, act, text] of [
    ['pause', pauseSubscription, 'deliver nothing for now; messages wait'],
    ['resume', resumeSubscription, 'deliver again'],
  ] as const) {
    const action = command.command(name).description(text).argument('<ids...>', 'ids or ARNs')
    action.action(
      does(async (context, ids: string[]) => {
        for (const id of ids) {
          const subscription = await act({ ...(await at(context, id)), body: {} })
          context.out.item(subscription, () => `${id} is ${subscription.status}`, id)
        }
      }),
    )
    examples(action, `subs ${name} 5f0c1e4e-…`)
  }
}

function defineRetry(command: Command, does: Does): void {
  const retry = command.command('retry').description('retry what waits now, not at its time')
  retry
    .argument('<id>', 'id or ARN')
    .option('--rate <rate>', 'attempts at most: 20/s')
    .action(
      does(async (context, id: string, { rate }: { rate?: string }) => {
        const body = rate === undefined ? {} : { maxPerSecond: readRate(rate, '--rate') }
        const { moved } = await retryNow({ ...(await at(context, id)), body })
        context.out.item({ moved }, () => `${counted(moved, 'delivery is', 'deliveries are')} due now`)
      }),
    )
  examples(retry, 'subs retry 5f0c1e4e-… --rate 10/s')
}

interface TestFlags {
  message?: string
  from?: string
}

function defineSetAside(command: Command, does: Does): void {
  const aside = command.command('set-aside').description('dead-letter one waiting message; its group goes on')
  aside
    .argument('<id>', 'id or ARN of the subscription')
    .argument('<message>', 'id of the message')
    .action(
      does(async (context, id: string, messageId: string) => {
        const answer = await setMessageAside({ ...(await at(context, id)), body: { messageId } })
        context.out.item(answer, () => `it goes to ${answer.queueArn}`, answer.messageId)
      }),
    )
  examples(aside, 'subs set-aside 5f0c1e4e-… 0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21')
}

function defineTest(command: Command, does: Does): void {
  const test = command.command('test').description('send one message now, and show the answer')
  test
    .argument('<id>', 'id or ARN')
    .option('--message <text>', 'what to send; default: a JSON object that says that it is a test')
    .option('--from <json>', 'message, subject and attributes as a JSON object, @FILE, or - for stdin')
    .action(
      does(async (context, id: string, { message, from }: TestFlags) => {
        const given = from === undefined ? {} : await readObject(from, '--from', context)
        const body = { ...given, ...(message !== undefined && { message }) }
        const answer = await testSubscription({ ...(await at(context, id)), body })
        const { statusCode, durationMs, error } = answer
        context.out.item(answer, () => `${statusCode ?? error ?? 'no answer'} in ${durationText(durationMs)}`)
        return statusCode !== null && statusCode >= 200 && statusCode < 300 ? 'done' : 'failed'
      }),
    )
  examples(test, 'subs test 5f0c1e4e-…', `subs test 5f0c1e4e-… --message '{"order":42}'`)
}

function defineRotate(command: Command, does: Does): void {
  const rotate = command.command('rotate-key').description('make a new key that signs webhooks, shown once')
  rotate
    .argument('<id>', 'id or ARN')
    .option('--algorithm <name>', 'hmac-sha256 or ed25519', 'hmac-sha256')
    .option('--overlap <time>', 'how long the earlier keys go on signing')
    .action(
      does(
        async (
          context,
          id: string,
          { algorithm, overlap }: { algorithm: 'hmac-sha256' | 'ed25519'; overlap?: string },
        ) => {
          const overlapSeconds =
            overlap === undefined ? undefined : parseDuration(overlap, '--overlap') / 1_000
          const body = { algorithm, ...(overlapSeconds !== undefined && { overlapSeconds }) }
          const key = await createWebhookKey({ ...(await at(context, id)), body })
          const shown = key.secret ?? key.publicKey ?? key.id
          context.out.item(key, () => shown, shown)
          if (key.secret !== undefined) context.out.note('The secret is shown this once.')
        },
      ),
    )
  examples(
    rotate,
    'subs rotate-key 5f0c1e4e-… --overlap 1d',
    'subs rotate-key 5f0c1e4e-… --quiet > secret.txt',
  )
}

function show({ out }: CommandContext, subscription: Subscription): void {
  if (subscription.warning !== undefined) out.warn(subscription.warning)
  out.item(subscription, () => subscriptionText(subscription), subscription.id)
}
