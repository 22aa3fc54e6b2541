/**
 * Prints the table of docs/reliability.md from the rows that tests of faults have appended (FANTAIL_FAILURE_ROWS):
 *
 *   FANTAIL_FAILURE_ROWS=/tmp/rows.jsonl pnpm test:failure && node tests/harness/fault-table.ts /tmp/rows.jsonl
 */
import { readFileSync } from 'node:fs'
import type { FaultRow } from './fault-rows.ts'

const HEAD = [
  '| fault | promised | messages | lost | duplicates | back after, s | run, s |',
  '|---|---|---:|---:|---:|---:|---:|',
]

/** In the order of the file; of several rows of one fault the last. */
function tableOf(rows: FaultRow[]): string {
  const byName = new Map(rows.map((row) => [row.name, row]))
  const lines = [...byName.values()].map((row) => {
    const back = row.recoverySeconds === null ? 'nothing stopped' : row.recoverySeconds
    const figures = [row.messages, row.lost, row.duplicates, back, row.runSeconds]
    const cells = figures.map((figure) => figure.toLocaleString('en-US'))
    return `| ${[row.fault, row.promised, ...cells].join(' | ')} |`
  })
  return [...HEAD, ...lines].join('\n')
}

const [file = ''] = process.argv.slice(2)
const lines = readFileSync(file, 'utf8').trim().split('\n')
console.info(tableOf(lines.map((line) => JSON.parse(line) as FaultRow)))
