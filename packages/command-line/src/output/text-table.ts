/**
 * Writes tables of plain text. Cells are printable, so that text from others cannot control the terminal or begin a
 * line.
 */
import { printable } from '@fantail/policy'

type Cell = string | number | null | undefined

export function tableText(titles: string[], rows: Cell[][]): string[] {
  const texts = [titles, ...rows.map((row) => row.map(cellText))]
  const widths = titles.map((_, index) => {
    return texts.reduce(
      (most, row) => Math.max(most, Math.min(widthOf(row[index] ?? ''), COLUMN_WIDTH_MAX)),
      0,
    )
  })
  return texts.map((row) =>
    row
      .map((text, index) => (index === row.length - 1 ? text : padded(text, widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** One long text lengthens its own line only, and not those of all other rows. */
const COLUMN_WIDTH_MAX = 60

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

const ASCII = /^[ -~]*$/
const WIDE =
  /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60]/u
const characters = new Intl.Segmenter('en')

/** The columns that a text takes in a terminal. */
function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  return [...characters.segment(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0)
}

/** Lines of `name  value`. */
export function fieldsText(fields: [name: string, value: Cell][]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd()).join('\n')
}

function cellText(value: Cell): string {
  return value === null || value === undefined ? '-' : printable(String(value))
}

/** `1 message`, `2 messages`. */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`
}
