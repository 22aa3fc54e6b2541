/**
 * `fantail completion` prints the script for the shell. The shell then calls `fantail completion words` to get the
 * words that may come next.
 */
import { type Client, listQueues, listTopics } from '@fantail/client/api'
import { Command, InvalidArgumentError } from 'commander'
import { connectApi } from '../../frame/api-client.ts'
import { type CommandContext, type Define, type Does, examples } from '../../frame/command-context.ts'

const SCRIPTS = new Map([
  [
    'bash',
    `_fantail() {
  local IFS=$'\\n'
  COMPREPLY=($(fantail completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fantail fantail`,
  ],
  [
    'zsh',
    `#compdef fantail
_fantail() {
  local -a words_found
  words_found=(\${(f)"$(fantail completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -a words_found
}
if [ "$funcstack[1]" = _fantail ]; then
  _fantail "$@"
else
  compdef _fantail fantail
fi`,
  ],
  [
    'fish',
    `function __fantail_words
  set -l words (commandline -opc) (commandline -ct)
  fantail completion words -- $words[2..-1] 2>/dev/null
end
complete -c fantail -f -a '(__fantail_words)'`,
  ],
])

export const completion: Define = (command, does) => {
  const shells = [...SCRIPTS.keys()]
  command
    .argument(
      '<shell>',
      `${shells.join(', ')}; \`words\` prints what may come after the given words`,
      (name) => {
        if (SCRIPTS.has(name) || name === 'words') return name
        throw new InvalidArgumentError(`It must be one of ${shells.join(', ')}.`)
      },
    )
    .argument('[words...]', 'for `words`: the words so far')
    .action(
      does(async (context: CommandContext, shell: string, words: string[]) => {
        const script = SCRIPTS.get(shell)
        if (script !== undefined) context.out.line(script)
        else for (const word of await candidates(words, context, () => new Command())) context.out.line(word)
      }),
    )
  examples(
    command,
    'completion bash > ~/.local/share/bash-completion/completions/fantail',
    'completion zsh > ~/.zfunc/_fantail  # in a folder of $fpath',
    'completion fish | source',
  )
}

/** The wait of a completion for names from the server. Past it: none are offered. */
const NAMES_WAIT_MS = 1_000
/** Names of the server that a completion offers. Past it: the others are left out. */
const OFFERED_NAMES_MAX = 100

/** The words that may follow. `words` ends with the word that is being typed, which may be empty. */
async function candidates(
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
