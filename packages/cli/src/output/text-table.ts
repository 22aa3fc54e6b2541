/**
 * Writes tables of plain text. Control characters in the cells are escaped, so that text from others cannot control the
 * terminal.
 */

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

/** C0, C1, and marks that reorder text. */
const CONTROLS = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

export function printable(text: string): string {
  return text.replace(
    CONTROLS,
    (mark) => NAMED[mark] ?? `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
