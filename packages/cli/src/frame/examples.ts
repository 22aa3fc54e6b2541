/** Writes the examples at the end of a command's help. */
import type { Command } from 'commander'

/** Each line is a command without `fantail`; text after two spaces and `#` explains it. */
export function examples(command: Command, ...lines: string[]): Command {
  const texts = lines.map((line) => `  fantail ${line}`)
  return command.addHelpText('after', ['', 'Examples:', ...texts].join('\n'))
}
