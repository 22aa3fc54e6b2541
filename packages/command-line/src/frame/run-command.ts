/** Runs one command: parses its words, gives it its context, and turns its result into an exit code. */
import { printableLines } from '@fantail/policy'
import { type Command, CommanderError } from 'commander'
import { parseDuration } from '../output/durations.ts'
import { CommandError, EXIT_CODES, type ExitName, exitOf } from '../output/exit-codes.ts'
import { Output } from '../output/output.ts'
import type { Caller, CommandContext, CommandSet, Define, Does, GlobalFlags } from './command-context.ts'
import { failureText } from './failure-text.ts'
import { chooseServer } from './server-choice.ts'

interface Given {
  caller: Caller
  commands: CommandSet
}

/** The exit code. */
export async function runCommand(program: Command, words: string[], given: Given): Promise<number> {
  const { stdout, stderr } = given.caller
  let ended: ExitName = 'done'
  const stop = stopSignal()
  const does: Does =
    (work) =>
    async (...args) => {
      const end = await work(contextOf(program.opts<GlobalFlags>(), stop, given), ...args)
      if (isExitName(end)) ended = end
    }
  // Before the sub-commands are made, because they inherit it.
  const writes = {
    writeOut: (text: string) => void stdout.write(text),
    writeErr: (text: string) => void stderr.write(text),
  }
  for (const command of [program, ...program.commands]) command.configureOutput(writes)
  defined.get(program)?.(does)
  try {
    await program.parseAsync(words, { from: 'user' })
    return EXIT_CODES[ended]
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage
    // If Ctrl-C or the timeout has ended the command, that is the failure, and not the error that followed from it.
    const cause = stop.signal.aborted ? stop.signal.reason : error
    const exit = exitOf(cause)
    if (exit !== 'interrupted')
      stderr.write(`fantail ${commandName(words)}: ${printableLines(failureText(cause))}\n`)
    return EXIT_CODES[exit]
  } finally {
    stop.release()
  }
}

function isExitName(value: unknown): value is ExitName {
  return typeof value === 'string' && value in EXIT_CODES
}

const defined = new WeakMap<Command, (does: Does) => void>()

export function programOf(create: () => Command, name: string, summary: string, define: Define): Command {
  const program = withGlobalFlags(create())
  const command = program.command(name).description(summary)
  command.exitOverride().copyInheritedSettings(program)
  defined.set(program, (does) => define(command, does))
  return program
}

function withGlobalFlags(program: Command): Command {
  return program
    .name('fantail')
    .exitOverride()
    .showHelpAfterError('(add --help for the words and flags of this command)')
    .option('--profile <name>', 'the profile that names server and key (`fantail login`)')
    .option('--url <url>', 'the address of the server, before FANTAIL_URL and profiles')
    .option('--json', 'one JSON object per line on stdout')
    .option('--quiet', 'names or ids alone, and no talk on stderr')
    .option('--no-color', 'no colours')
    .option('--timeout <time>', 'ends the command with exit code 7 after this time (30s, 5m)')
    .option('--yes', 'does not ask before it removes something')
    .configureHelp({ showGlobalOptions: true })
}

function contextOf(flags: GlobalFlags, stop: StopSignal, { caller, commands }: Given): CommandContext {
  const { env, stdin, stdout, stderr } = caller
  if (flags.timeout !== undefined) stop.endAfter(parseDuration(flags.timeout, '--timeout'), flags.timeout)
  const isTerminal = stdout.isTTY === true
  const color = flags.color && isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
  const server = once(() => chooseServer(flags, env))
  return {
    out: new Output({ json: flags.json === true, quiet: flags.quiet === true, color, stdout, stderr }),
    server,
    api: once(async () => {
      const [{ connectApi }, chosen] = await Promise.all([import('./api-client.ts'), server()])
      return connectApi({ ...chosen, signal: stop.signal })
    }),
    yes: flags.yes === true,
    signal: stop.signal,
    env,
    stdin,
    stderr,
    isTerminal,
    commands,
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

interface StopSignal {
  signal: AbortSignal
  endAfter(ms: number, text: string): void
  release(): void
}

/** The first Ctrl-C ends the command in an orderly way, the second one at once. */
function stopSignal(): StopSignal {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(EXIT_CODES.interrupted)
    controller.abort(new CommandError('interrupted', 'interrupted'))
  }
  for (const name of SIGNALS) process.on(name, interrupt)
  return {
    signal: controller.signal,
    endAfter(ms, text) {
      const why = new CommandError('timedOut', `not done after ${text}`, 'A longer --timeout waits longer.')
      timer = setTimeout(() => controller.abort(why), ms)
    },
    release() {
      clearTimeout(timer)
      for (const name of SIGNALS) process.off(name, interrupt)
    },
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function commandName(words: string[]): string {
  return words.find((word) => !word.startsWith('-')) ?? ''
}
