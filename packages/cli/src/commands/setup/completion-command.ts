/**
 * `fantail completion` prints the script for the shell. The shell then calls `fantail completion words` to get the
 * words that may come next.
 */
import { Command, InvalidArgumentError } from 'commander'
import type { CommandContext, Define } from '../../frame/command-context.ts'
import { examples } from '../../frame/examples.ts'
import { candidates } from './completion-words.ts'

const SCRIPTS: Record<string, string> = {
  bash: `_fantail() {
  local IFS=$'\\n'
  COMPREPLY=($(fantail completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fantail fantail`,
  zsh: `#compdef fantail
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
  fish: `function __fantail_words
  set -l words (commandline -opc) (commandline -ct)
  fantail completion words -- $words[2..-1] 2>/dev/null
end
complete -c fantail -f -a '(__fantail_words)'`,
}

export const completion: Define = (command, does) => {
  const shells = Object.keys(SCRIPTS)
  command
    .argument(
      '<shell>',
      `${shells.join(', ')}; \`words\` prints what may come after the given words`,
      (name) => {
        if (name in SCRIPTS || name === 'words') return name
        throw new InvalidArgumentError(`It must be one of ${shells.join(', ')}.`)
      },
    )
    .argument('[words...]', 'for `words`: the words so far')
    .action(
      does(async (context: CommandContext, shell: string, words: string[]) => {
        const script = SCRIPTS[shell]
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
