/** Reads a secret from stdin: a line of a pipe or file, or a line that a person types without seeing it. */

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { CommandContext } from '../../frame/command-context.ts'
import { readText } from '../../frame/command-input.ts'

export async function readSecret(prompt: string, context: CommandContext): Promise<string> {
  const { stdin, signal } = context
  if (!stdin.isTTY) return (await readText('-', context)).split('\n')[0]?.trim() ?? ''
  process.stderr.write(prompt)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: hidden, terminal: true })
  try {
    return (await lines.question('', { signal })).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
