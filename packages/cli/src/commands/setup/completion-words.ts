/** Finds the words that may follow in a command line: commands, flags, and names of topics and queues on the server. */
import { type Client, listQueues, listTopics } from '@fantail/client/api'
import type { Command } from 'commander'
import { connectApi } from '../../frame/api-client.ts'
import type { CommandContext, Does } from '../../frame/command-context.ts'

/** The wait of a completion for names from the server. Past it: none are offered. */
const NAMES_WAIT_MS = 1_000
/** Names of the server that a completion offers. Past it: the others are left out. */
const OFFERED_NAMES_MAX = 100

/** The words that may follow. `words` ends with the word that is being typed, which may be empty. */
export async function candidates(
  words: string[],
  context: CommandContext,
  create: () => Command,
): Promise<string[]> {
  const typed = words.at(-1) ?? ''
  const [name, ...before] = words.slice(0, -1).filter((word) => !word.startsWith('-'))
  const found =
    name === undefined ? context.commands.names : await wordsOf(name, { before, typed, context, create })
  return found.filter((word) => word.startsWith(typed)).toSorted()
}

interface Typed {
  before: string[]
  typed: string
  context: CommandContext
  create: () => Command
}

async function wordsOf(name: string, { before, typed, context, create }: Typed): Promise<string[]> {
  const define = await context.commands.load(name)
  if (!define) return []
  const root = create()
  define(root.command(name), NOTHING)
  const command = root.commands[0]
  if (!command) return []
  const sub = command.commands.find(
    (other) => other.name() === before[0] || other.aliases().includes(before[0] ?? ''),
  )
  const place = sub ?? command
  if (typed.startsWith('-')) return place.options.map(({ long }) => long ?? '').filter(Boolean)
  const given = before.length - (sub ? 1 : 0)
  const argument =
    place.registeredArguments.at(given) ?? place.registeredArguments.findLast(({ variadic }) => variadic)
  const names = argument === undefined ? [] : await namesFor(argument.name(), context)
  return sub || before.length > 0 ? names : [...command.commands.map((other) => other.name()), ...names]
}

const NOTHING: Does = () => async () => undefined

async function namesFor(argument: string, context: CommandContext): Promise<string[]> {
  const read = argument.startsWith('topic')
    ? topicNames
    : argument.startsWith('queue')
      ? queueNames
      : undefined
  if (!read) return []
  const server = await context.server()
  const signal = AbortSignal.timeout(NAMES_WAIT_MS)
  // While a person types, no names are better than an error.
  return read(connectApi({ ...server, signal })).catch(() => [])
}

async function topicNames(client: Client): Promise<string[]> {
  const { topics } = await listTopics({ client, query: { limit: OFFERED_NAMES_MAX } })
  return topics.map(({ name }) => name)
}

async function queueNames(client: Client): Promise<string[]> {
  const { queues } = await listQueues({ client, query: { limit: OFFERED_NAMES_MAX } })
  return queues.map(({ name }) => name)
}
