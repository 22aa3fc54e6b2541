// @ts-check
/** The manual page `fantail(1)`, made from what `fantail --help` prints. */

const FILES = [
  ['/etc/fantail/fantail.env', 'settings of all services on this machine'],
  ['/etc/fantail/redis.conf', 'settings of the Redis that holds all data'],
  ['/var/lib/fantail-redis', 'the data'],
  ['/usr/share/doc/fantail/docs', 'the documents; begin with guides/operate.md'],
]

/** @param {string} help @param {{ version: string, date: string }} release `date`: as 2026-01-31 */
export function manPage(help, { version, date }) {
  const [usage = '', ...sections] = help.trim().split('\n\n')
  const commands = (sections[0] ?? '').split('\n').map(commandOf)
  const prose = sections.slice(1).flatMap((section) => ['.PP', ...section.split('\n').map(roff)])
  return `${[
    `.TH FANTAIL 1 "${date}" "Fantail ${version}" "User Commands"`,
    '.SH NAME',
    'fantail \\- distribute messages to webhooks and queues',
    '.SH SYNOPSIS',
    `.B ${roff(usage.replace(/^usage: /, ''))}`,
    '.SH DESCRIPTION',
    'A publisher sends a message to a topic once. Fantail delivers a copy to every subscriber of the topic.',
    '.SH COMMANDS',
    ...commands.flatMap(entry),
    ...prose,
    '.SH FILES',
    ...FILES.flatMap(entry),
    '.SH SEE ALSO',
    '.BR systemctl (1),',
    '.BR journalctl (1)',
  ].join('\n')}\n`
}

/** Two spaces part a command's words from what it does. @param {string} line */
function commandOf(line) {
  const [, words = '', summary = ''] = /^ {2}(.+?) {2,}(.+)$/.exec(line) ?? []
  if (words === '') throw new TypeError(`the help has a line that is no command: ${line}`)
  return [words, summary]
}

/** @param {string[]} pair */
function entry([words = '', text = '']) {
  return ['.TP', `.B ${roff(words)}`, roff(text)]
}

/** @param {string} text */
function roff(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^([.'])/, '\\&$1')
}
