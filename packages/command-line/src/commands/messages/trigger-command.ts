/** `fantail trigger` publishes a sample event, and shows how its deliveries end. */
import { randomUUID } from 'node:crypto'
import { type PublishReceipt, publish } from '@fantail/client/api'
import { type Define, examples } from '../../frame/command-context.ts'
import { collect, readPairs } from '../../frame/command-input.ts'
import { explainMessage } from './explain-command.ts'

interface TriggerFlags {
  data?: string[]
  group?: string
  follow?: boolean
}

export const trigger: Define = (command, does) => {
  command
    .argument('<topic>', 'name or ARN')
    .argument('[event]', 'the type of the event', 'test.event')
    .option('--data <name=value>', 'a member of the data: name=text or name:=JSON (again for more)', collect)
    .option('--group <id>', 'the message group; FIFO topics need one')
    .option('--follow', 'shows the deliveries until they have ended')
    .action(
      does(async (context, topic: string, event: string, { data = [], group, follow }: TriggerFlags) => {
        const message = {
          id: randomUUID(),
          type: event,
          createdAt: new Date().toISOString(),
          data: { sample: true, ...readPairs(data, '--data') },
        }
        const order = group === undefined ? {} : { groupId: group, deduplicationId: message.id }
        const receipt = (await publish({
          client: await context.api(),
          path: { topic },
          body: { message, attributes: { event }, ...order },
          headers: { 'Idempotency-Key': message.id },
        })) as PublishReceipt
        context.out.item({ ...receipt, event: message }, () => receipt.messageId, receipt.messageId)
        if (follow) await explainMessage(context, receipt.messageId, { follow })
      }),
    )
  examples(
    command,
    'trigger orders order.created --data order:=42',
    'trigger orders order.created --follow --timeout 30s',
  )
}
