/** `fantail quotas`: what customers may have. A customer is a beginning of names of topics. */
import { deleteQuota, listQuotas, putQuota, type Quota, type QuotaSettings } from '@fantail/client/api'
import { type Define, examples } from '../../frame/command-context.ts'
import { readWhole } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'

type Member = keyof Quota['used']

/** `3 of 10` */
const usedOf = (quota: Quota, member: Member) => `${quota.used[member]} of ${quota[member] ?? 'any'}`

interface BoundFlags {
  topics?: string
  subscriptions?: string
  storedBytes?: string
}

export const quotas: Define = (command, does) => {
  addList(command, does, {
    summary: 'list quotas with what is used',
    read: (client, query) => listQuotas({ client, query }),
    items: (page) => page.quotas,
    columns: [
      { title: 'NAMES', of: (row) => `${row.prefix}…` },
      { title: 'TOPICS', of: (row) => usedOf(row, 'topics') },
      { title: 'SUBSCRIPTIONS', of: (row) => usedOf(row, 'subscriptions') },
      { title: 'STORED BYTES', of: (row) => usedOf(row, 'storedBytes') },
    ],
    examples: ['quotas list'],
  })
  const set = command.command('set').description('bound what a customer may have')
  set
    .argument('<prefix>', 'beginning of the names of the customer’s topics')
    .option('--topics <n>', 'topics at most; none: no bound')
    .option('--subscriptions <n>', 'subscriptions of all these topics at most; none: no bound')
    .option('--stored-bytes <n>', 'bytes of stored messages at most; none: no bound')
    .action(
      does(async ({ api, out }, prefix: string, { topics, subscriptions, storedBytes }: BoundFlags) => {
        const body: QuotaSettings = {
          ...(topics !== undefined && { topics: boundOf(topics, '--topics') }),
          ...(subscriptions !== undefined && { subscriptions: boundOf(subscriptions, '--subscriptions') }),
          ...(storedBytes !== undefined && { storedBytes: boundOf(storedBytes, '--stored-bytes') }),
        }
        const made = await putQuota({ client: await api(), path: { prefix }, body })
        const uses = (['topics', 'subscriptions', 'storedBytes'] as const).map((member) =>
          usedOf(made, member),
        )
        out.item(
          made,
          () => `${prefix}…: topics ${uses[0]}, subscriptions ${uses[1]}, bytes ${uses[2]}`,
          prefix,
        )
      }),
    )
  examples(set, 'quotas set acme- --topics 10 --subscriptions 50', 'quotas set acme- --topics none')
  const remove = command.command('rm').description('bound a customer no longer')
  remove.argument('<prefixes...>', 'beginnings of names').action(
    does(async (context, prefixes: string[]) => {
      await confirm(`remove the quotas of ${prefixes.join(', ')}`, context)
      const client = await context.api()
      for (const prefix of prefixes) {
        await deleteQuota({ client, path: { prefix } })
        context.out.item({ deleted: prefix }, () => `${prefix}… has no quota`, prefix)
      }
    }),
  )
  examples(remove, 'quotas rm acme- --yes')
}

function boundOf(text: string, flag: string): number | null {
  return text === 'none' ? null : readWhole(text, flag, 0)
}
