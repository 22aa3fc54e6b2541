/** Asks before something is removed. */
import { createInterface } from 'node:readline/promises'
import { CommandError } from '../output/exit-codes.ts'
import type { CommandContext } from './command-context.ts'

/** Throws unless a person says yes, or --yes was given. `what` reads like "delete the topic orders". */
export async function confirm(what: string, { yes, stdin, stderr, signal }: CommandContext): Promise<void> {
  if (yes) return
  if (!stdin.isTTY) {
    throw new CommandError(
      'usage',
      `this would ${what}, and stdin is not a terminal at which to ask`,
      'Add --yes.',
    )
  }
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const answer = await lines.question(`This will ${what}. Go on? [y/N] `, { signal })
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    lines.close()
  }
  throw new CommandError('failed', 'nothing was changed')
}
