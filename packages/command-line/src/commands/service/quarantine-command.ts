/** `fantail quarantine`: data that cannot be decoded. */
import {
  deleteQuarantineEntry,
  exportQuarantineEntry,
  listQuarantine,
  putBackQuarantineEntry,
} from '@fantail/client/api'
import { type Define, examples } from '../../frame/command-context.ts'
import { confirm } from '../../frame/confirm.ts'
import { addList } from '../../frame/list-command.ts'
import { counted } from '../../output/text-table.ts'

const ID = '0199c3a1-7a52-7c11-9a0e-3f1d5b7c9e21'

export const quarantine: Define = (command, does) => {
  addList(command, does, {
    summary: 'list what cannot be decoded',
    read: (client, query) => listQuarantine({ client, query }),
    items: (page) => page.entries,
    columns: [
      { title: 'ENTRY', of: (row) => row.id },
      { title: 'REASON', of: (row) => row.reason },
      { title: 'MESSAGE', of: (row) => row.messageId },
      { title: 'SINCE', of: (row) => row.quarantinedAt },
      { title: 'DETAIL', of: (row) => row.detail },
    ],
    examples: ['quarantine list'],
  })
  const exporting = command.command('export').description('show one entry with its bytes, as JSON')
  exporting.argument('<id>', 'id of the entry').action(
    does(async ({ api, out }, id: string) => {
      const entry = await exportQuarantineEntry({ client: await api(), path: { id } })
      out.line(JSON.stringify(entry))
    }),
  )
  examples(exporting, `quarantine export ${ID} > entry.json`)
  const putBack = command.command('put-back').description('try one entry again')
  putBack.argument('<id>', 'id of the entry').action(
    does(async ({ api, out }, id: string) => {
      const result = await putBackQuarantineEntry({ client: await api(), path: { id }, body: {} })
      out.item(
        result,
        () =>
          `back: ${counted(result.messages, 'message')}, ${counted(result.deliveries, 'delivery', 'deliveries')}`,
      )
    }),
  )
  examples(putBack, `quarantine put-back ${ID}`)
  const remove = command.command('rm').description('delete entries permanently')
  remove.argument('<ids...>', 'ids of entries').action(
    does(async (context, ids: string[]) => {
      await confirm(
        `delete ${counted(ids.length, 'entry', 'entries')} of the quarantine permanently`,
        context,
      )
      const client = await context.api()
      for (const id of ids) {
        await deleteQuarantineEntry({ client, path: { id } })
        context.out.item({ deleted: id }, () => `deleted ${id}`, id)
      }
    }),
  )
  examples(remove, `quarantine rm ${ID} --yes`)
}
