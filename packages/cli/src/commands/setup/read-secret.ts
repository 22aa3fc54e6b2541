/** Reads a secret from stdin: a line of a pipe or file, or a line that a person types without seeing it. */

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { CommandContext } from '../../frame/command-context.ts'

export async function readSecret(prompt: string, { stdin, signal }: CommandContext): Promise<string> {
  if (!stdin.isTTY) return (await text(stdin)).split('\n')[0]?.trim() ?? ''
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
