/** `fantail suppressions`: addresses that get no mail. */
import {
  type Bounces,
  importBounces,
  listSuppressions,
  type NewSuppression,
  releaseAddress,
  suppressAddress,
} from '@fantail/client/api'
import { type Define, examples } from '../../frame/command-context.ts'
import { readObject } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'

export const suppressions: Define = (command, does) => {
  addList(command, does, {
    summary: 'list addresses that get no mail',
    read: (client, query) => listSuppressions({ client, query }),
    items: (page) => page.suppressions,
    columns: [
      { title: 'ADDRESS', of: (row) => row.address },
      { title: 'REASON', of: (row) => row.reason },
      { title: 'SINCE', of: (row) => row.suppressedAt },
      { title: 'DETAIL', of: (row) => row.detail },
    ],
    examples: ['suppressions list --json'],
  })
  const add = command.command('add').description('send no mail to an address')
  add
    .argument('<address>', 'the address')
    .option('--reason <reason>', 'bounce, complaint or manual', 'manual')
    .option('--detail <text>', 'why, for people')
    .action(
      does(async ({ api, out }, address: string, body: NewSuppression) => {
        const added = await suppressAddress({ client: await api(), path: { address }, body })
        out.item(added, () => `${added.address} gets no mail`, added.address)
      }),
    )
  examples(add, `suppressions add reader@example.com --detail 'asked by phone'`)
  const remove = command.command('rm').description('send mail to addresses again')
  remove.argument('<addresses...>', 'the addresses').action(
    does(async (context, addresses: string[]) => {
      await confirm(`send mail to ${addresses.join(', ')} again`, context)
      const client = await context.api()
      for (const address of addresses) {
        await releaseAddress({ client, path: { address } })
        context.out.item({ deleted: address }, () => `${address} gets mail again`, address)
      }
    }),
  )
  examples(remove, 'suppressions rm reader@example.com --yes')
  const bounces = command.command('import').description('import bounces that a mail server has reported')
  bounces.argument('<bounces>', 'a JSON object with bounces, @FILE, or - for stdin').action(
    does(async (context, given: string) => {
      const body = (await readObject(given, 'the bounces', context)) as Bounces
      const result = await importBounces({ client: await context.api(), body })
      context.out.item(result, () => JSON.stringify(result))
    }),
  )
  examples(bounces, 'suppressions import @bounces.json')
}
