/** Every help has examples, and the guide has every command. */

import { COMMANDS } from '@fantail/cli'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { textOf } from '../repo/repository.ts'

const guide = textOf('docs/guides/cli.md')
const loaded = Object.entries(COMMANDS).flatMap(([name, command]) =>
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

test('the guide names every command', () => {
  const rows = [...guide.matchAll(/^\| `([a-z]+)/gm)].map(([, name = '']) => name)
  expect(Object.keys(COMMANDS).filter((name) => !rows.includes(name))).toEqual([])
})

test('nothing but the table and the exit codes is loaded before a command is called', () => {
  const importsOf = (file: string) =>
    [...textOf(`packages/cli/src/${file}`).matchAll(/^import (?!type )[^;]*? from '([^']+)'/gm)].map(
      ([, from]) => from,
    )
  expect(importsOf('command-line.ts')).toEqual(['./command-table.ts', './exit-codes.ts'])
  expect([...importsOf('command-table.ts'), ...importsOf('exit-codes.ts')]).toEqual([])
})
