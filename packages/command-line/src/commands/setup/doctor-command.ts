/**
 * `fantail doctor` looks for present and future problems, and says how to solve them. It changes nothing without
 * --webhook.
 */
import { type Client, getOverview, listServices } from '@fantail/client/api'
import { type CommandContext, type Define, examples } from '../../frame/command-context.ts'
import { CommandError, exitOf } from '../../output/exit-codes.ts'
import { counted } from '../../output/text-table.ts'
import { checkServer, checkWebhook, type Finding } from './doctor-checks.ts'
import { checkQueues } from './doctor-queues.ts'

export const doctor: Define = (command, does) => {
  command
    .option(
      '--webhook',
      'also sends a signed message to this machine, over a topic that is deleted afterwards',
    )
    .option(
      '--host <address>',
      'with --webhook: the address of this machine, as the server sees it',
      '127.0.0.1',
    )
    .action(
      does(async (context, flags: { webhook?: boolean; host: string }) => {
        const findings: Finding[] = []
        for await (const finding of allChecks(context, flags)) {
          findings.push(finding)
          show(context, finding)
        }
        const failed = findings.filter(({ status }) => status === 'failed').length
        if (failed > 0)
          throw new CommandError('failed', `${failed} of ${counted(findings.length, 'check')} failed`)
        return undefined
      }),
    )
  examples(command, 'doctor', 'doctor --webhook', 'doctor --json')
}

async function* allChecks(
  context: CommandContext,
  { webhook, host }: { webhook?: boolean; host: string },
): AsyncGenerator<Finding> {
  yield* checkServer(context)
  yield* checkMemory(await context.api())
  yield* checkFormat(await context.api())
  yield* checkQueues(await context.api())
  if (webhook) yield await checkWebhook(context, host)
}

const SIGNS = { ok: ['✓', 'green'], warning: ['▲', 'yellow'], failed: ['✕', 'red'] } as const

function show({ out }: CommandContext, finding: Finding): void {
  const { check, status, detail, fix } = finding
  const [sign, style] = SIGNS[status]
  const line = () => `${out.style(style, sign)} ${check}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`
  if (out.quiet && status === 'ok' && !out.json) return
  out.item(finding, line)
}

/** A share of the watermark. Above it, an operator should act before publishes are refused. */
const NEARLY_FULL = 0.8
const MIB = 1_048_576

async function* checkMemory(client: Client): AsyncGenerator<Finding> {
  const { memory } = await getOverview({ client })
  const check = 'memory'
  // A key with prefixes does not see the memory.
  if (!memory) return
  const { usedBytes, watermarkBytes } = memory
  if (watermarkBytes === null) {
    const fix = 'Set maxmemory of Redis, or FANTAIL_REDIS_MEMORY_BYTES.'
    yield { check, status: 'warning', detail: 'nothing says how much Redis may use', fix }
    return
  }
  const detail = `${mib(usedBytes)} of ${mib(watermarkBytes)} MiB, from which on publishing is refused`
  if (usedBytes < watermarkBytes * NEARLY_FULL) yield { check, status: 'ok', detail }
  else {
    const fix = '`fantail lanes` and `fantail dlq list` show what fills it. Give Redis more memory in time.'
    yield { check, status: usedBytes < watermarkBytes ? 'warning' : 'failed', detail, fix }
  }
}

async function* checkFormat(client: Client): AsyncGenerator<Finding> {
  const check = 'data format'
  const listed = await listServices({ client }).catch((error: unknown) => {
    // A key with prefixes does not see the processes.
    if (exitOf(error) === 'refused') return undefined
    throw error
  })
  if (!listed) return
  const { data, processes } = listed
  if (!data) {
    const fix = 'The next report of a process, within ten seconds, stores it again.'
    yield { check, status: 'warning', detail: 'cannot be read', fix }
    return
  }
  const inEffect = `format ${data.format}, capabilities: ${data.capabilities.join(', ') || 'none'}`
  const newest = Math.max(data.format, ...processes.map(({ format }) => format))
  const known = new Set(processes.flatMap(({ capabilities }) => capabilities))
  const isBehind = ({ format, capabilities }: (typeof processes)[number]) =>
    format < newest || [...known].some((name) => !capabilities.includes(name))
  const behind = processes.filter(isBehind)
  if (behind.length === 0) {
    yield {
      check,
      status: 'ok',
      detail: `${inEffect}; all of ${counted(processes.length, 'process', 'processes')} know the same`,
    }
    return
  }
  const names = behind.map(({ role, host, pid }) => `${role} ${host}:${pid}`).join(', ')
  const detail = `${inEffect}; ${behind.length} of ${processes.length} processes do not know all that others know: ${names}`
  const fix = 'Restart them with the newer release. Nothing new takes effect before.'
  yield { check, status: 'warning', detail, fix }
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}
