/** `fantail export` writes the set-up to a file, and `fantail apply` changes a server to match the file. */
import { type Client, getSession } from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { collect, readText } from '../../frame/command-input.ts'
import { confirm } from '../../frame/confirm.ts'
import { CommandError, type ExitName } from '../../output/exit-codes.ts'
import type { Output } from '../../output/output.ts'
import { counted } from '../../output/text-table.ts'
import { type Found, readState, type Selection, written } from './state-file.ts'
import { parseState, refusalAt } from './state-parse.ts'
import { impossible, planOf } from './state-plan.ts'
import { applySteps, showStep } from './state-steps.ts'

interface ExportFlags {
  prefix?: string
  topic?: string[]
  queue?: string[]
  schema?: boolean
}

export const exportState: Define = (command, does) => {
  command
    .option('--prefix <text>', 'only topics and queues whose names begin with this text')
    .option('--topic <name>', 'only this topic; may be given several times', collect)
    .option('--queue <name>', 'only this queue; may be given several times', collect)
    .option('--schema', 'prints the JSON Schema of the file, for editors')
    .action(does(exportFile))
  examples(
    command,
    'export > fantail.json',
    'export --prefix shop- --queue jobs > shop.json',
    'export --schema > fantail.schema.json',
  )
}

async function exportFile({ api, out }: CommandContext, flags: ExportFlags): Promise<void> {
  if (flags.schema) {
    const { stateJsonSchema } = await import('@fantail/contracts/schemas/overview/state-schemas')
    return printFile(stateJsonSchema(), out)
  }
  const { prefix, topic: topics, queue: queues } = flags
  const selection = {
    ...(prefix !== undefined && { prefix }),
    ...(topics && { topics }),
    ...(queues && { queues }),
  }
  printFile(written(await readWithProgress(await api(), out, selection)), out)
  out.note('Secrets are not in it: webhook keys, outbound headers, certificates, API keys.')
}

function printFile(file: object, out: Output): void {
  out.line(out.json ? JSON.stringify(file) : JSON.stringify(file, null, 2))
}

export async function readWithProgress(
  client: Client,
  out: Output,
  selection: Selection = {},
): Promise<Found> {
  const progress = out.progress('topics read')
  try {
    return await readState(client, (topics) => progress.update(topics), selection)
  } finally {
    progress.end()
  }
}

interface ApplyFlags {
  file: string
  plan?: boolean
  /** true: everything. A text: only what begins with it. */
  prune?: boolean | string
}

export const apply: Define = (command, does) => {
  command
    .requiredOption(
      '-f, --file <file>',
      'the settings as YAML, or JSON as `fantail export` writes it; - is stdin',
    )
    .option('--plan', 'only shows what would be done; exit code 9 if there is anything')
    .option(
      '--prune [prefix]',
      'also deletes topics, subscriptions and queues that the file does not name; with a prefix, only of names that begin with it',
    )
    .action(does(applyFile))
  examples(
    command,
    'apply -f fantail.json --plan',
    'apply -f fantail.yaml',
    'apply -f fantail.json --prune --yes',
    'apply -f shop.json --prune shop-',
  )
}

async function applyFile(
  context: CommandContext,
  { file, plan, prune = false }: ApplyFlags,
): Promise<ExitName> {
  const isStdin = file === '-'
  const text = await readText(isStdin ? '-' : `@${file}`, context)
  const name = isStdin ? 'stdin' : file
  const parsed = parseState(text, name)
  // The schemas take a while to load, and no other command needs them.
  const { settingProblem } = await import('./state-settings.ts')
  const problem = settingProblem(parsed)
  if (problem) throw refusalAt(problem, text, name)
  const client = await context.api()
  const { isStored, storedForm } = await import('./stored-form.ts')
  const { server } = await getSession({ client })
  const wanted = storedForm(parsed, server)
  const steps = planOf(wanted, await readWithProgress(client, context.out), { prune, isStored })
  const problems = impossible(steps)
  if (problems.length > 0) throw new CommandError('conflict', problems.join('\n'), 'Nothing was changed.')
  if (plan) {
    for (const step of steps) showStep(context, step)
    context.out.note(counted(steps.length, 'change'))
    return steps.length === 0 ? 'done' : 'differs'
  }
  const deleted = steps.filter(({ act }) => act === 'delete')
  if (deleted.length > 0) await confirm(`delete ${deleted.map(({ name }) => name).join(', ')}`, context)
  return applySteps(context, client, steps)
}
