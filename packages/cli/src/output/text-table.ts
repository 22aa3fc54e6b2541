/**
 * Writes tables of plain text. Cells are printable, so that text from others cannot control the terminal or begin a
 * line.
 */
import { printable } from '@fantail/policy'

type Cell = string | number | null | undefined

export function tableText(titles: string[], rows: Cell[][]): string[] {
  const texts = [titles, ...rows.map((row) => row.map(cellText))]
  const widths = titles.map((_, index) => Math.max(...texts.map((row) => row[index]?.length ?? 0)))
  return texts.map((row) =>
    row
      .map((text, index) => (index === row.length - 1 ? text : text.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** Lines of `name  value`. */
export function fieldsText(fields: [name: string, value: Cell][]): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd()).join('\n')
}

function cellText(value: Cell): string {
  return value === null || value === undefined ? '-' : printable(String(value))
}
