/** Figures and tables in Markdown. */

/** Three significant digits, with a separator for thousands. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return roundedTo(value, value < 10 ? 1 : 0).toLocaleString('en-US')
}

/** Three significant digits: a figure that is compared with 0.65 must not be rounded to 0.7. */
export function precisely(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.max(0, 3 - Math.max(0, Math.ceil(Math.log10(Math.abs(value) + Number.EPSILON))))
  return roundedTo(value, digits).toLocaleString('en-US', { maximumFractionDigits: digits })
}

export function roundedTo(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}

export function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
