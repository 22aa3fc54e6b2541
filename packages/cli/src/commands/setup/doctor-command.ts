/**
 * `fantail doctor` looks for present and future problems, and says how to solve them. It changes nothing without
 * --webhook.
 */

import type { CommandContext, Define } from '../../frame/command-context.ts'
import { examples } from '../../frame/examples.ts'
import { counted } from '../../output/counted.ts'
import { CommandError } from '../../output/exit-codes.ts'
import type { Finding } from './doctor-finding.ts'
import { checkMemory } from './doctor-memory.ts'
import { checkQueues } from './doctor-queues.ts'
import { checkServer } from './doctor-server.ts'
import { checkWebhook } from './doctor-webhook.ts'

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
  yield* checkQueues(await context.api())
  if (webhook) yield await checkWebhook(context, host)
}

const MARKS = { ok: ['✓', 'green'], warning: ['▲', 'yellow'], failed: ['✕', 'red'] } as const

function show({ out }: CommandContext, finding: Finding): void {
  const { check, status, detail, fix } = finding
  const [mark, style] = MARKS[status]
  const line = () => `${out.style(style, mark)} ${check}: ${detail}${fix === undefined ? '' : `\n    ${fix}`}`
  if (out.quiet && status === 'ok' && !out.json) return
  out.item(finding, line)
}
