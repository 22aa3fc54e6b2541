/** `fantail publish` publishes one message, or with `--lines` one for each line of stdin. */
import { randomUUID } from 'node:crypto'
import { type PublishReceipt, publish as publishMessages } from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { collect, readText } from '../../frame/command-input.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { membersOf, type PublishFlags, publishLines } from './publish-lines.ts'

export const publish: Define = (command, does) => {
  command
    .argument('<topic>', 'name or ARN')
    .argument('[body]', 'the message; @FILE, or - for stdin (the default where stdin is not a terminal)')
    .option('--attr <name=value>', 'an attribute: name=text or name:=JSON (again for more)', collect)
    .option('--subject <text>', 'the subject')
    .option('--type <name>', 'the event type, such as order.paid')
    .option('--group <id>', 'the message group; FIFO topics need one')
    .option('--dedup <id>', 'the deduplication id of a FIFO topic')
    .option('--idempotency-key <key>', 'the same key within the window publishes once')
    .option('--lines', 'each line of stdin is one message; empty lines are left out')
    .option('--objects', 'with --lines: each line is a JSON object with message, attributes, groupId …')
    .option('--rate <rate>', 'with --lines: messages at most: 100/s, 600/m')
    .action(
      does(async (context, topic: string, body: string | undefined, flags: PublishFlags) => {
        if (flags.lines || flags.objects) {
          if (body !== undefined && body !== '-') {
            throw new CommandError('usage', '--lines reads messages from stdin, and takes no body')
          }
          return publishLines(context, topic, flags)
        }
        await publishOne(context, topic, body, flags)
        return undefined
      }),
    )
  examples(
    command,
    `publish orders '{"order":42}' --type order.created`,
    'publish orders @order.json --idempotency-key order-42',
    'publish orders.fifo hello --group customer-7 --dedup 1',
    'publish clicks --lines --rate 500/s < clicks.ndjson',
  )
}

async function publishOne(
  context: CommandContext,
  topic: string,
  given: string | undefined,
  flags: PublishFlags,
): Promise<void> {
  if (flags.rate !== undefined) throw new CommandError('usage', '--rate needs --lines')
  if (given === undefined && context.stdin.isTTY) {
    throw new CommandError('usage', 'the message is missing', 'Give it as a word, as @FILE, or by stdin.')
  }
  const message = await readText(given ?? '-', context)
  const receipt = (await publishMessages({
    client: await context.api(),
    path: { topic },
    body: { message, ...membersOf(flags) },
    headers: { 'Idempotency-Key': flags.idempotencyKey ?? randomUUID() },
  })) as PublishReceipt
  context.out.item(receipt, () => receipt.messageId, receipt.messageId)
  if (receipt.warning !== undefined) context.out.warn(receipt.warning)
}
