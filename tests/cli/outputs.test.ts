/** The table of outputs has every command, and every refusal of a server has its exit code in every command. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMMANDS, commandLine, EXIT_CODES, type programOf, SERVICES } from '@fantail/command-line'
import { Command } from 'commander'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { COMMAND_OUTPUTS } from '../harness/command-line/command-outputs.ts'
import { renderOutputs } from '../harness/command-line/outputs-page.ts'
import { textOf } from '../repo/repository.ts'

const leaves = new Map<string, Command | undefined>(SERVICES.map((name) => [name, undefined]))
for (const [name, command] of COMMANDS) {
  if ('load' in command) await addLeaves(name, command.load)
  else for (const words of processCommands(command.words)) leaves.set(`${name}${words}`, undefined)
}

async function addLeaves(name: string, load: () => Promise<Parameters<typeof programOf>[3]>) {
  const command = new Command(name)
  const define = await load()
  define(command, () => async () => undefined)
  for (const sub of command.commands) leaves.set(`${name} ${sub.name()}`, sub)
  if (command.commands.length === 0) leaves.set(name, command)
}

/** `create | list` are two commands; flags are none. */
function processCommands(words = ''): string[] {
  const names = words.split(' | ').filter((word) => /^[a-z]+$/.test(word))
  return names.length === 0 ? [''] : names.map((word) => ` ${word}`)
}

test('the page has the table (`vitest run tests/cli/outputs.test.ts -u` writes it)', async () => {
  await expect(renderOutputs()).toMatchFileSnapshot('../../docs/command-line-output.md')
})

test('the table has every command, and no other', () => {
  expect(Object.keys(COMMAND_OUTPUTS).toSorted()).toEqual([...leaves.keys()].toSorted())
})

test('each test that the table names proves its commands', () => {
  const files = new Set(Object.values(COMMAND_OUTPUTS).map(({ test: file }) => file))
  for (const file of files) expect(textOf(file)).toContain(`provesCommands('${file}')`)
})

test('the page explains every exit code', () => {
  const codes = [...renderOutputs().matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))
  expect(codes).toEqual(Object.values(EXIT_CODES))
})

/** A value for each argument, by its name; others take the word `x`. */
const ARGUMENTS: Record<string, string> = {
  app: 'GCM/shop',
  policy: '{}',
  bounces: '{"bounces":[]}',
  rate: '5/s',
  'topic-arn': 'arn:aws:sns:us-east-1:000000000000:x',
}
/** Flags without which the command asks no server. */
const FLAGS: Record<string, string[]> = {
  listen: ['--forward-to', 'localhost:1'],
  'dlq edit': ['--body', 'new'],
  cutover: ['--all'],
}
/** They read stdin first, or answer for themselves. */
const NOT_ASKED = ['login']

const asking = [...leaves].flatMap(([name, command]) =>
  command && COMMAND_OUTPUTS[name]?.reach === 'server' && !NOT_ASKED.includes(name)
    ? [{ name, command }]
    : [],
)

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fantail-outputs-'))
  await writeFile(join(folder, 'state.json'), '{"version":1,"queues":[],"topics":[]}')
  FLAGS.apply = ['--file', join(folder, 'state.json')]
  ARGUMENTS.file = join(folder, 'state.json')
  return () => rm(folder, { recursive: true })
})
afterEach(() => void vi.restoreAllMocks())

function wordsOf(name: string, command: Command): string[] {
  const given = command.registeredArguments.map((argument) => ARGUMENTS[argument.name()] ?? 'x')
  return [...name.split(' '), ...given, ...(FLAGS[name] ?? []), '--yes', '--json']
}

/** Ends with the exit code. Its output is dropped. */
async function run(words: string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true)
  try {
    return await commandLine(words)
  } finally {
    vi.restoreAllMocks()
  }
}

/** A server that refuses everything in the words of the API. */
async function refusing(status: number) {
  const server = createServer((_, response) => {
    const error = { code: 'refused', message: 'no' }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { server, url: `http://127.0.0.1:${port}` }
}

test.each([
  [400, 2],
  [401, 4],
  [403, 4],
  [404, 3],
  [409, 5],
  [500, 1],
])('a server that refuses with %i ends every command with %i', async (status, expected) => {
  const { server, url } = await refusing(status)
  try {
    const codes: Record<string, number> = {}
    for (const { name, command } of asking) codes[name] = await run([...wordsOf(name, command), '--url', url])
    expect(codes).toEqual(Object.fromEntries(asking.map(({ name }) => [name, expected])))
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('a wrong flag ends every command with 2', async () => {
  const loaded = [...leaves].filter(([, command]) => command !== undefined)
  for (const [name] of loaded)
    expect([name, await run([...name.split(' '), '--no-such-flag'])]).toEqual([name, EXIT_CODES.usage])
})
