/** Every help has examples, and the guide has every command. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { COMMANDS, programOf } from '@fantail/command-line'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { filesMatching, textOf } from '../repo/repository.ts'

const guide = textOf('docs/guides/cli.md')
const loaded = [...COMMANDS].flatMap(([name, command]) =>
  'load' in command ? [[name, command.load] as const] : [],
)

/** The command, or its sub-commands. */
function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
}

test.each(loaded)('each help of `fantail %s` has examples of itself', async (name, load) => {
  const command = new Command(name)
  const define = await load()
  define(command, () => async () => undefined)
  for (const leaf of leaves(command)) {
    const help: string[] = []
    leaf.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp()
    expect(help.join('')).toMatch(new RegExp(`Examples:\\n  fantail ${name} ?`))
    expect(leaf.description() || leaf === command).toBeTruthy()
  }
})

/** Examples of the helps, as bash would split them. Redirections and comments are left out. */
async function exampleWords(helps: string[]): Promise<string[][]> {
  const lines = helps
    .flatMap((help) => help.slice(help.indexOf('Examples:')).replaceAll('\\\n', '').split('\n'))
    .filter((line) => line.startsWith('  fantail'))
    .map((line) => line.replace(/ +(#|<|>|\|) ?[^']*$/, ''))
  const program = `fantail() { printf '%s\\0' "$@"; echo; }\n${lines.join('\n')}`
  const { stdout } = await promisify(execFile)('bash', ['-c', program])
  return stdout.split('\0\n').flatMap((words) => (words === '' ? [] : [words.split('\0')]))
}

test.each(loaded)('each example of `fantail %s` has words and flags that exist', async (name, load) => {
  const define = await load()
  const help: string[] = []
  const command = new Command(name)
  define(command, () => async () => undefined)
  for (const leaf of leaves(command))
    leaf.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp()
  const examples = await exampleWords(help.join('').split('Usage:'))
  expect(examples).not.toEqual([])
  for (const words of examples) expect([words, await runs(words)]).toEqual([words, 1])
})

/** How many actions the words run. Rejects if a word or a flag does not exist. */
async function runs([name = '', ...words]: string[]): Promise<number> {
  const command = COMMANDS.get(name)
  if (!command || !('load' in command)) throw new Error(`there is no command ${name}`)
  const define = await command.load()
  const program = programOf(() => new Command(), name, '', define)
  let ran = 0
  define(program.commands[0] as Command, () => async () => void ran++)
  program.commands[0]?.configureOutput({ writeErr: () => undefined })
  await program.parseAsync([name, ...words], { from: 'user' })
  return ran
}

/** Commands in the texts of a source, with a word in the place of each value. */
function commandsIn(source: string): string[][] {
  const texts = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').replaceAll('\\`', '`')
  return [...texts.matchAll(/[`:] ?(fantail [a-z]+(?=[ `])(?:\$\{[^}]*\}|[^`$])*)`/g)]
    .flatMap(([, text = '']) => text.split(' && '))
    .filter((text) => text.startsWith('fantail '))
    .map((text) =>
      text
        .replace(/\$\{[^}]*\}/g, 'word')
        .split(/\s+/)
        .slice(1),
    )
}

test('each command in a hint or a remedy has words and flags that exist', async () => {
  const sources = filesMatching('packages/command-line/src/**/*.ts').filter(
    (path) => !path.endsWith('.test.ts'),
  )
  const hints = sources.flatMap((path) => commandsIn(textOf(path)).map((words) => [path, ...words] as const))
  expect(hints.length).toBeGreaterThan(10)
  const wrong: string[] = []
  for (const [path, ...words] of hints) {
    const command = COMMANDS.get(words[0] ?? '')
    if (command && 'process' in command) continue
    const ran = await runs(words).catch((error: unknown) => error)
    if (ran !== 1) wrong.push(`${path}: ${words.join(' ')}: ${ran}`)
  }
  expect(wrong).toEqual([])
})

test('the guide has a row that names each command and each of its sub-commands', async () => {
  const rows = [...guide.matchAll(/^\| `([a-z-]+)([^`]*)/gm)].flatMap(([, name = '', words = '']) => [
    name,
    ...(words.match(/[a-z-]+/g) ?? []).map((word) => `${name} ${word}`),
  ])
  const commands = [...COMMANDS.keys()]
  for (const [name, load] of loaded) {
    const command = new Command(name)
    ;(await load())(command, () => async () => undefined)
    commands.push(...command.commands.map((sub) => `${name} ${sub.name()}`))
  }
  expect(commands.filter((name) => !rows.includes(name))).toEqual([])
})

test('nothing but the table and the exit codes is loaded before a command is called', () => {
  const importsOf = (file: string) =>
    [...textOf(`packages/command-line/src/${file}`).matchAll(/^import (?!type )[^;]*? from '([^']+)'/gm)].map(
      ([, from]) => from,
    )
  expect(importsOf('command-line.ts')).toEqual(['./command-table.ts', './output/exit-codes.ts'])
  expect([...importsOf('command-table.ts'), ...importsOf('output/exit-codes.ts')]).toEqual([])
})
