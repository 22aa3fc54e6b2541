/**
 * The output of a command. Data goes to stdout, everything else to stderr. With `--json`, each line of stdout is one
 * JSON object. Without a terminal, lines are plain: no colour, no cursor movement. All lines are made printable here,
 * because they may quote what others have written. Escape sequences of the command itself are therefore tagged.
 */
import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { printable, printableLines } from '@fantail/policy'
import { Progress, type Stderr } from './progress.ts'
import { tableText } from './text-table.ts'

/** Stands for the escape character of a style until a line is written. Others cannot guess it. */
const STYLED = `\u001b${randomBytes(8).toString('hex')}`

function written(text: string): string {
  return text.split(STYLED).map(printableLines).join('\u001b')
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

interface OutputOptions {
  json: boolean
  quiet: boolean
  color: boolean
  stdout: Writable
  stderr: Stderr
}

export interface Column<T> {
  title: string
  of: (row: T) => string | number | null | undefined
}

export class Output {
  readonly json: boolean
  readonly quiet: boolean
  readonly #color: boolean
  readonly #stdout: Writable
  readonly #stderr: Stderr

  constructor({ json, quiet, color, stdout, stderr }: OutputOptions) {
    this.json = json
    this.quiet = quiet
    this.#color = color && !json
    this.#stdout = stdout
    this.#stderr = stderr
  }

  /** Prints one object: as JSON, with `--quiet` only its name, otherwise as `text`. */
  item(value: object, text: () => string, name?: string): void {
    if (this.json) this.line(JSON.stringify(value))
    else this.line(this.quiet && name !== undefined ? printable(name) : text())
  }

  /** Prints rows of a list: a JSON object each, with `--quiet` only the first column, otherwise a table. */
  rows<T extends object>(rows: readonly T[], columns: readonly Column<T>[]): void {
    if (this.json) for (const row of rows) this.line(JSON.stringify(row))
    else if (this.quiet) for (const row of rows) this.line(printable(String(columns[0]?.of(row) ?? '')))
    else if (rows.length > 0) {
      const cells = rows.map((row) => columns.map(({ of }) => of(row)))
      const [head = '', ...lines] = tableText(
        columns.map(({ title }) => title),
        cells,
      )
      this.line([this.style('bold', head), ...lines].join('\n'))
    }
  }

  line(text: string): void {
    this.#stdout.write(`${written(text)}\n`)
  }

  /** Bytes as they are, for files. */
  raw(text: string | Uint8Array): void {
    this.#stdout.write(text)
  }

  /** A note for the user, on stderr. With `--quiet` it is left out. */
  note(text: string): void {
    if (!this.quiet) this.#stderr.write(`${written(text)}\n`)
  }

  /** A warning or an error, on stderr. */
  warn(text: string): void {
    this.#stderr.write(`${written(text)}\n`)
  }

  /** Shows how much of the work is done. `what`: the unit, such as `messages`. */
  progress(what: string, isShown = true): Progress {
    return new Progress({ what, quiet: this.quiet || !isShown, stderr: this.#stderr })
  }

  style(style: Style, text: string): string {
    if (!this.#color) return text
    const [begin = '', end = ''] = styleText(style, '|', { validateStream: false }).split('|')
    return [begin.replace('\u001b', STYLED), text, end.replace('\u001b', STYLED)].join('')
  }
}

export function isHelp(args: string[]): boolean {
  return args.includes('--help') || args.includes('-h') || args[0] === 'help'
}

/** The exit code. */
export function help(usage: string): 0 {
  console.log(usage)
  return 0
}
