/** `fantail verify` checks the signature of a received webhook (Standard Webhooks). It needs no server. */
import { type Define, examples } from '../../frame/command-context.ts'
import { collect, readStdin, readText } from '../../frame/command-input.ts'
import { parseDuration } from '../../output/durations.ts'
import { CommandError } from '../../output/exit-codes.ts'
import { checkSignature, readRequest } from './webhook-signature.ts'

interface VerifyFlags {
  key: string
  header?: string[]
  tolerance: string
}

export const verify: Define = (command, does) => {
  command
    .requiredOption('--key <key>', 'whsec_… or whpk_…, or @FILE with it')
    .option(
      '--header <line>',
      'a header such as webhook-id: … (again for more); stdin is then the body',
      collect,
    )
    .option('--tolerance <time>', 'how old the request may be', '5m')
    .action(
      does(async (context, { key, header, tolerance }: VerifyFlags) => {
        const given = await readStdin(context)
        const request = header === undefined ? readRequest(given) : { headers: header, body: given }
        const secret = (await readText(key, context)).trim()
        const toleranceMs = parseDuration(tolerance, '--tolerance')
        const problem = checkSignature(request, { secret, toleranceMs, now: Date.now() })
        if (problem !== undefined) throw new CommandError('failed', problem.message, problem.hint)
        context.out.item({ verified: true }, () => 'the signature is right')
      }),
    )
  examples(
    command,
    'verify --key @secret.txt < request.txt  # a request as it was received, headers first',
    `verify --key @secret.txt --header 'webhook-id: …' --header 'webhook-timestamp: …' \\
      --header 'webhook-signature: …' < body.json`,
  )
}
