/** Renders docs/command-line-output.md from the table of outputs. */
import { COMMAND_OUTPUTS } from './command-outputs.ts'

const HEAD = `# What \`fantail\` prints for programs

This page is made from \`tests/harness/command-line/command-outputs.ts\`. Tests run each command as a process, and check
each line and each exit code that they see against it. [The command line](guides/cli.md) says what the commands do.

With \`--json\`, a command prints one JSON object per line. Lists print a line for each item,
\`explain --follow\` one for each change, and \`--watch\` one for each look. Names with a capital letter
are schemas of the API, which \`/docs\` and \`/openapi.json\` of a running API describe. New releases may add members and
do not remove any. Errors and notes go to stderr, so that stdout has data only.

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed, for a reason without a code of its own |
| 2 | wrong arguments, flags or values |
| 3 | not found |
| 4 | refused: no key, a wrong key, or a key without the scope |
| 5 | conflict with what exists or runs |
| 6 | the server does not answer, or cannot serve requests now |
| 7 | not done within \`--timeout\` |
| 8 | partly done: stderr says which part |
| 9 | there are differences, which \`--plan\` or a comparison shows |
| 78 | a service ends, because this release does not know the format of the data in Redis |
| 130 | interrupted by Ctrl-C |

The last column has the codes that mean something special for the command. \`--help\` of each command ends with 0.

| command | \`--json\` prints | exit codes | special meaning |
|---|---|---|---|`

export function renderOutputs(): string {
  const rows = Object.entries(COMMAND_OUTPUTS).map(([command, { json, codes, meanings }]) => {
    const shapes = json.map(({ text }) => text).join(' or ')
    const special = Object.entries(meanings).map(([code, meaning]) => `${code}: ${meaning}`)
    return `| ${[`\`${command}\``, shapes || 'no JSON', codes.join(' '), special.join('; ') || '–'].join(' | ')} |`
  })
  return `${[HEAD, ...rows].join('\n')}\n`
}
