/** Writes the tables of a log between the marks of the documents. Everything else in them is written by hand. */
import { basename, dirname } from 'node:path'
import { FIGURES_LOG } from '../../../infra/release/figures-check.mjs'
import { precisely, table } from '../report/markdown.ts'
import { OTHERS } from '../report/others.ts'
import { barOf, isReached, valueText } from '../report/rows.ts'
import type { FiguresLog } from './figures-log.ts'
import { REGIONS, type Region, type Shown } from './published-tables.ts'

/** A region begins with this line until a run has measured its figures. */
export const OLD_FIGURES =
  '_These figures are of an earlier tree. `npm run bench -- all --write` replaces them._'

export const DOCUMENTS = [...new Set(REGIONS.map(({ document }) => document))]

/** The text with each region of this document as the log has it. Throws if a mark is missing. */
export function withTables(document: string, text: string, log: FiguresLog): string {
  const own = REGIONS.filter((region) => region.document === document)
  return own.reduce((before, region) => {
    const [head, , tail] = splitAt(region, before)
    return `${head}\n${regionText(region, log)}\n${tail}`
  }, text)
}

/** The text between the marks of the region. */
export function textIn(region: Region, text: string): string {
  return splitAt(region, text)[1].trim()
}

function splitAt({ document, name }: Region, text: string): [head: string, between: string, tail: string] {
  const [head = '', between, ...others] = text.split(`<!-- bench: ${name} -->`)
  const end = between?.indexOf(END) ?? -1
  if (between === undefined || others.length > 0 || end < 0)
    throw new Error(`${document} needs \`<!-- bench: ${name} -->\` once, and \`${END}\` after it`)
  return [`${head}<!-- bench: ${name} -->\n`, between.slice(0, end), between.slice(end)]
}

const END = '<!-- end of bench -->'

function regionText({ document, tables }: Region, log: FiguresLog): string {
  const tablesText = tables.map(({ head, rows }) =>
    table(
      head,
      rows.map((row) => row.map((cell) => cellText(cell, log))),
    ),
  )
  return [...tablesText, captionOf(document, log)].join('\n\n').concat('\n')
}

function cellText(cell: string | Shown, log: FiguresLog): string {
  if (typeof cell === 'string') return cell
  const row = log.rows.find(({ scenario, figure }) => scenario === cell.scenario && figure === cell.figure)
  if (row === undefined) return '–'
  if (cell.show === 'bar') return barOf(row)
  if (cell.show === 'note') return row.note ?? ''
  return isReached(row) ? valueText(row) : `**${valueText(row)}**`
}

function captionOf(document: string, { head, rows }: FiguresLog): string {
  const others = rows.filter(({ figure }) => figure === OTHERS).map((row) => row.value)
  const link = dirname(document) === dirname(FIGURES_LOG) ? basename(FIGURES_LOG) : FIGURES_LOG
  return [
    `- Commit \`${head.commit.slice(0, 12)}\`, measured on ${head.measuredOn} by \`npm run bench -- all --write\`.`,
    `- Machine: ${head.machine}. Other programs used at most ${precisely(Math.max(...others))} % of it.`,
    `- Software: ${head.software}.`,
    `- Raw log: [${basename(FIGURES_LOG)}](${link}).`,
  ].join('\n')
}

/** The figures that the documents show and the log does not have. */
export function missingIn({ rows }: FiguresLog): string[] {
  const known = new Set(rows.map(({ scenario, figure }) => `${scenario}: ${figure}`))
  const cells = REGIONS.flatMap(({ tables }) => tables.flatMap((each) => each.rows.flat()))
  const shown = cells.flatMap((cell) => (typeof cell === 'string' ? [] : `${cell.scenario}: ${cell.figure}`))
  return [...new Set(shown)].filter((name) => !known.has(name))
}
