/** Finds the command among the words and loads it. Nothing else is loaded before. */
import { COMMANDS, type Row, SERVICES } from './command-table.ts'
import type { Caller } from './frame/command-context.ts'
import { EXIT_CODES } from './output/exit-codes.ts'

const HELP = ['--help', '-h', 'help']
const FLAGS_WITH_VALUE = ['--profile', '--url', '--timeout']

/** The exit code. Commands that need Redis instead of the API always have this process as their caller. */
export async function commandLine(words: string[], caller: Caller = process): Promise<number> {
  const at = commandIndex(words)
  const name = words[at] ?? ''
  if (COMMANDS.has(name)) return runNamed(name, words, caller)
  if (words.some((word) => HELP.includes(word)) && ['', ...HELP, ...SERVICES].includes(name)) {
    const asked = words.slice(at + 1).find((word) => COMMANDS.has(word))
    if (asked !== undefined) return runNamed(asked, [...words.slice(at + 1), '--help'], caller)
    caller.stdout.write(`${usage()}\n`)
    return EXIT_CODES.done
  }
  caller.stderr.write(`${name === '' ? usage() : unknown(name)}\n`)
  return EXIT_CODES.usage
}

/** Global flags may stand before the command. */
function commandIndex(words: string[]): number {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    if (FLAGS_WITH_VALUE.includes(word)) index++
    else if (!word.startsWith('-') || HELP.includes(word)) return index
  }
  return words.length
}

async function runNamed(name: string, words: string[], caller: Caller): Promise<number> {
  const command = COMMANDS.get(name)
  if (!command) throw new RangeError(`no command ${name}`)
  if ('process' in command) {
    await command.process()
    return Number(process.exitCode ?? EXIT_CODES.done)
  }
  const [{ Command }, { programOf, runCommand }, define] = await Promise.all([
    import('commander'),
    import('./frame/run-command.ts'),
    command.load(),
  ])
  return runCommand(
    programOf(() => new Command(), name, command.summary, define),
    words,
    { caller, commands: COMMAND_SET },
  )
}

function unknown(name: string): string {
  const near = [...COMMANDS.keys()].filter((other) => other.startsWith(name[0] ?? '') && isNear(name, other))
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}? ` : ''
  return `fantail: command ${name} does not exist. ${hint}\`fantail --help\` lists them.`
}

/**
 * Whether two words are similar. Their lengths differ by at most two, and at most one letter of `a` is missing at about
 * the same place of `b`.
 */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 2) return false
  const wrong = [...a].filter(
    (letter, index) => b[index] !== letter && b[index + 1] !== letter && b[index - 1] !== letter,
  )
  return wrong.length <= 1
}

function usage(): string {
  const services = { summary: 'run a service (`redrive` without words)' }
  const table: [string, Row][] = [...COMMANDS, [SERVICES.join(' | '), services]]
  const lines = table.map(
    ([name, { words = '', summary }]) => `  ${`${name} ${words}`.trim().padEnd(WORDS_WIDTH)}  ${summary}`,
  )
  return [
    'usage: fantail COMMAND [words and flags]',
    '',
    ...lines,
    '',
    'Flags of every command: --profile NAME, --url URL, --json, --quiet, --no-color, --timeout TIME, --yes.',
    '`fantail COMMAND --help` has the rest, with examples. `fantail --version` says which Fantail this is.',
    'Address and key come from --url, FANTAIL_URL and FANTAIL_API_KEY, or a profile (`fantail login`).',
    'In a checkout it is `npm run fantail -- topics list`.',
  ].join('\n')
}

const WORDS_WIDTH = 42

const COMMAND_SET = {
  names: [...COMMANDS.keys(), ...SERVICES],
  load(name: string) {
    const command = COMMANDS.get(name)
    return command && 'load' in command ? command.load() : undefined
  },
}
