/** Rows of scenarios as they are printed: lines of JSON for programs, a table in Markdown for people. */
import type { Row } from '../scenario.ts'
import { precisely, roundedTo, table } from './markdown.ts'
import type { Figure } from './summary.ts'

/** A row with the median of some runs and their spread. */
export function rowOf(
  figure: string,
  { median, min, max }: Figure,
  rest: Omit<Row, 'figure' | 'value'>,
): Row {
  return { figure, value: median, spread: [min, max], ...rest }
}

/** False for a value that is no number. */
export function isReached({ value, atMost, atLeast }: Row): boolean {
  return value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY)
}

export function rowLine(scenario: string, row: Row): string {
  const line = { scenario, ...row, ...(barOf(row) === '' ? {} : { reached: isReached(row) }) }
  return JSON.stringify(line, (_, value) => (typeof value === 'number' ? roundedTo(value, 3) : value))
}

export function rowTable(results: Map<string, Row[]>): string {
  const rows = [...results].flatMap(([scenario, all]) => all.map((row) => cells(scenario, row)))
  return table(['scenario', 'figure', 'value (min–max)', 'bar', 'note'], rows)
}

function cells(scenario: string, row: Row): string[] {
  const bar = barOf(row)
  const missed = bar !== '' && !isReached(row) ? ', **missed**' : ''
  return [scenario, row.figure, valueText(row), `${bar}${missed}`, row.note ?? '']
}

/** Value, spread and unit. */
export function valueText({ value, spread, unit }: Row): string {
  const range = spread ? ` (${precisely(spread[0])}–${precisely(spread[1])})` : ''
  return `${precisely(value)}${range} ${unit}`.trimEnd()
}

/** Empty if the row has no bar. */
export function barOf({ atMost, atLeast }: Row): string {
  const bars = [
    atLeast === undefined ? '' : `≥ ${precisely(atLeast)}`,
    atMost === undefined ? '' : `≤ ${precisely(atMost)}`,
  ]
  return bars.filter((bar) => bar !== '').join(', ')
}
