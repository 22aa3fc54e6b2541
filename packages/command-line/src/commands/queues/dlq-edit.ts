/** `fantail dlq edit` opens a dead letter in the editor, shows what changed, and sends it again. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getQueueMessage, type QueueMessage, redriveMessage } from '@fantail/client/api'
import { lineDiff, printable } from '@fantail/policy'
import type { Command } from 'commander'
import { type CommandContext, type Does, examples } from '../../frame/command-context.ts'
import { collect, readPairs, readText } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import { follow } from './redrive-command.ts'

interface EditFlags {
  body?: string
  attr?: string[]
  to?: string
  watch?: boolean
}

export function defineEdit(command: Command, does: Does): void {
  const edit = command.command('edit').description('edit a dead letter, and send it again')
  edit
    .argument('<queue>', 'name or ARN')
    .argument('<message>', 'id of the message in the queue')
    .option('--body <text>', 'the new text, @FILE or -; default: opens $VISUAL or $EDITOR')
    .option('--attr <name=value>', 'sets an attribute (again for more); := takes JSON', collect)
    .option('--to <queue>', 'sends it to this queue; default: where it came from')
    .option('--watch', 'waits until it has ended; 8: it is dead again')
    .action(does(editLetter))
  examples(
    edit,
    'dlq edit orders-dlq 059f36b4-87a3-44ab-83d2-661975830a7d',
    'dlq edit orders-dlq 059f36b4-87a3-44ab-83d2-661975830a7d --body @mended.json --yes',
  )
}

async function editLetter(
  context: CommandContext,
  queue: string,
  messageId: string,
  { body, attr, to, watch }: EditFlags,
): Promise<ExitName | undefined> {
  const place = { client: await context.api(), path: { queue, messageId } }
  const letter = await getQueueMessage(place)
  const before = textOf(letter)
  const after = body === undefined ? await inEditor(before, context) : await readText(body, context)
  const attributes = attr && { ...attributesOf(letter), ...readPairs(attr, '--attr') }
  if (after === before && !attributes)
    throw new CommandError('failed', 'nothing was changed, and nothing is sent')
  showChanges(context, { before, after, attr })
  await confirm(`send it again from ${queue}, edited`, context)
  const changes = {
    ...(after !== before && { message: after }),
    ...(attributes && { attributes }),
    ...(to !== undefined && { destination: to }),
  }
  const sent = await redriveMessage({
    ...place,
    body: changes as Parameters<typeof redriveMessage>[0]['body'],
  })
  if (watch) return follow(context, sent.id, sent.messageId)
  context.out.item(sent, () => `sent as ${sent.messageId}, by redrive ${sent.id}`, sent.messageId)
}

/** The published text, or the body of a message that is not a dead letter. */
function textOf({ published, body }: QueueMessage): string {
  const text = published?.message ?? body
  if (text === null)
    throw new CommandError('refused', 'the key lacks the scope bodies, so it sees no text to edit')
  return text
}

function attributesOf({ published, attributes }: QueueMessage): QueueMessage['attributes'] {
  return published?.attributes ?? attributes
}

async function inEditor(text: string, { env }: CommandContext): Promise<string> {
  const editor = env.VISUAL || env.EDITOR
  if (!editor)
    throw new CommandError('usage', 'the editor is not set', 'Set $EDITOR, or give the text by --body.')
  const folder = await mkdtemp(join(tmpdir(), 'fantail-edit-'))
  try {
    const file = join(folder, 'message')
    await writeFile(file, text, { mode: 0o600 })
    await run(editor, file)
    return await readFile(file, 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The editor may be several words, as in `code --wait`. */
function run(editor: string, file: string): Promise<void> {
  const [program = '', ...words] = editor.split(' ').filter(Boolean)
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...words, file], { stdio: 'inherit' })
    child.on('error', (error) =>
      reject(new CommandError('failed', `${program} does not start: ${error.message}`)),
    )
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new CommandError('failed', `${program} ended with ${code}, and nothing is sent`))
    })
  })
}

const STYLES = { '+': 'green', '-': 'red', ' ': 'dim' } as const

function showChanges(
  { out }: CommandContext,
  { before, after, attr = [] }: { before: string; after: string; attr: string[] | undefined },
): void {
  const lines = lineDiff(before, after).map(({ sign, text }) =>
    out.style(STYLES[sign], `${sign} ${printable(text)}`),
  )
  out.note([...lines, ...attr.map((pair) => out.style('green', `+ ${printable(pair)}`))].join('\n'))
}
