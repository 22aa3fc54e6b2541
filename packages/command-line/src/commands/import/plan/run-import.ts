/**
 * Runs an import. Each source becomes the document that `fantail apply` reads, and a list of findings. The command
 * shows both, asks, and then makes the steps of `apply`.
 */
import { type Client, getSession, type Session } from '@fantail/client/api'
import type { CommandContext } from '../../../frame/command-context.ts'
import { confirm } from '../../../frame/confirm.ts'
import type { ExitName } from '../../../output/exit-codes.ts'
import { counted } from '../../../output/text-table.ts'
import { readWithProgress } from '../../service/state-commands.ts'
import { FIXED, type Found, type State } from '../../service/state-file.ts'
import { planOf, type Step } from '../../service/state-plan.ts'
import { applySteps, showStep } from '../../service/state-steps.ts'
import { type Finding, type Findings, showFindings, warnOfFindings } from './findings.ts'
import { type SecretStep, setSecrets } from './secret-steps.ts'

/** The server to which something is imported. */
export interface Here {
  client: Client
  server: Session['server']
  /** null: the server asks for no keys. */
  key: Session['key']
  found: Found
}

export interface Imported {
  wanted: State
  findings: Findings
  /** Shows more of the plan, such as retry curves. */
  show?: (context: CommandContext) => void
  /** Steps after those of the document. */
  secrets?: SecretStep[]
}

export interface ImportFlags {
  plan?: boolean
  document?: boolean
}

/** `read` asks the source. It is called after the server has answered. `convert` then makes the document. */
export async function runImport<Source>(
  context: CommandContext,
  { plan = false, document = false }: ImportFlags,
  { read, convert }: { read(): Promise<Source>; convert(source: Source, here: Here): Promise<Imported> },
): Promise<ExitName> {
  const { out } = context
  const client = await context.api()
  const { server, key } = await getSession({ client })
  const source = await read()
  const found = await readWithProgress(client, out)
  const { wanted, findings, show, secrets = [] } = await convert(source, { client, server, key, found })
  if (document) {
    warnOfFindings(context, findings.sorted())
    out.line(out.json ? JSON.stringify(wanted) : JSON.stringify(wanted, null, 2))
    return 'done'
  }
  const steps = withoutFixed(planOf(wanted, found, { prune: false }), findings)
  noteChanges(steps, findings)
  const list = findings.sorted()
  showFindings(context, list)
  show?.(context)
  const count = steps.length + secrets.length
  if (plan) {
    for (const step of steps) showStep(context, step)
    for (const { shown } of secrets) showStep(context, shown)
  }
  out.note(summary(steps, list))
  if (plan) return count === 0 ? 'done' : 'differs'
  if (count === 0) return 'done'
  await confirm(`make ${counted(count, 'change')}`, context)
  const ended = await applySteps(context, client, steps, { goesOn: true })
  return (await setSecrets(context, secrets)) ? ended : 'partlyDone'
}

/** Steps without what cannot be changed. It becomes a finding, because the rest should come over nevertheless. */
function withoutFixed(steps: Step[], findings: Findings): Step[] {
  return steps.flatMap((step) => {
    const fixed = step.act === 'change' ? FIXED.filter((name) => name in step.settings) : []
    if (fixed.length === 0) return [step]
    const { kind, name, topic, id } = step
    findings.add(
      {
        matter: 'requests',
        what: 'lost',
        text: `${fixed.join(' and ')} of a ${kind} that exists here already cannot be changed`,
        remedy: `delete it (\`fantail ${kind === 'subscription' ? 'subs' : `${kind}s`} rm\`), and import again`,
      },
      [name, topic && `of ${topic}`, id && `(${id})`].filter(Boolean).join(' '),
    )
    const left = Object.keys(step.settings).filter((member) => !fixed.includes(member))
    const pick = (from: Record<string, unknown> = {}) =>
      Object.fromEntries(left.map((member) => [member, from[member]]))
    return left.length === 0 ? [] : [{ ...step, settings: pick(step.settings), before: pick(step.before) }]
  })
}

/** Somebody may have chosen the present settings of something that exists. */
function noteChanges(steps: Step[], findings: Findings): void {
  for (const { act, kind, name, topic } of steps)
    if (act === 'change')
      findings.add(
        {
          matter: 'access',
          what: 'changed',
          text: 'it exists here with other settings, which the import replaces',
          remedy: '`--plan` shows each of them',
        },
        topic === undefined ? `${kind} ${name}` : `${kind} ${name} of ${topic}`,
      )
}

/** `12 queues, 3 topics and 40 subscriptions to create, 1 change; 2 losses and 5 changes are listed`. */
function summary(steps: Step[], findings: readonly Finding[]): string {
  const created = (kind: Step['kind']) =>
    steps.filter((step) => step.act === 'create' && step.kind === kind).length
  const changed = steps.filter(({ act }) => act === 'change').length
  const made = [
    counted(created('queue'), 'queue'),
    counted(created('topic'), 'topic'),
    counted(created('subscription'), 'subscription'),
  ]
  const lost = findings.filter(({ what }) => what === 'lost').length
  const others = findings.length - lost
  return (
    `to create: ${made.join(', ')}; to change: ${changed}; ` +
    `listed: ${counted(lost, 'loss', 'losses')}, ${counted(others, 'difference')}`
  )
}
