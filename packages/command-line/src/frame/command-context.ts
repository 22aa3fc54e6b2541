/** The context of a command: its client, its output, and the flags that every command has. */
import type { Client } from '@fantail/client/api'
import type { Command } from 'commander'
import type { Output } from '../output/output.ts'

/** The flags of every command, as commander hands them over. */
export interface GlobalFlags {
  profile?: string
  url?: string
  json?: boolean
  quiet?: boolean
  color: boolean
  timeout?: string
  yes?: boolean
}

/** Who calls a command: its environment, and where the command reads and writes. A process is one. */
export type Caller = Pick<NodeJS.Process, 'env' | 'stdin' | 'stdout' | 'stderr'>

export interface CommandContext extends Pick<Caller, 'env' | 'stdin' | 'stderr'> {
  /** Throws if the flags and profiles name no server. */
  api(): Promise<Client>
  server(): Promise<Server>
  out: Output
  /** `--yes` was given. */
  yes: boolean
  /** Aborted by Ctrl-C and by `--timeout`, with the error to end with. */
  signal: AbortSignal
  /** Whether a person reads stdout. */
  isTerminal: boolean
  commands: CommandSet
}

/** Every command, for completions. */
export interface CommandSet {
  names: string[]
  /** undefined: there is no such command, or it reads its words itself. */
  load(name: string): Promise<Define> | undefined
}

export interface Server {
  url: string
  apiKey: string | undefined
  /** The profile that names the server. Absent: no profile does. */
  profile: string | undefined
}

/** Makes the function that commander calls. `work` does the work, and may end with the name of an exit code. */
export type Does = <A extends unknown[]>(
  work: (context: CommandContext, ...args: A) => Promise<unknown>,
) => (...args: A) => Promise<void>

/** Adds words, flags and work to the command of the table. */
export type Define = (command: Command, does: Does) => void

/** Each line is a command without `fantail`; text after two spaces and `#` explains it. */
export function examples(command: Command, ...lines: string[]): Command {
  const texts = lines.map((line) => `  fantail ${line}`)
  return command.addHelpText('after', ['', 'Examples:', ...texts].join('\n'))
}
