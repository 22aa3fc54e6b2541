/**
 * Prints the table of docs/reliability.md from the rows that tests of faults have appended (FANTAIL_FAILURE_ROWS):
 *
 *   FANTAIL_FAILURE_ROWS=/tmp/rows.jsonl npm run test:failure
 *   node tests/harness/ledgers/fault-table.ts /tmp/rows.jsonl
 */
import { readFileSync } from 'node:fs'
import { FAULTS, type FaultRow } from './fault-rows.ts'

const HEAD = [
  '| fault | promised | messages | lost | duplicates | back after, s | run, s |',
  '|---|---|---:|---:|---:|---:|---:|',
]

/** In the order of FAULTS. If a fault has several rows, the last one is used. */
function tableOf(rows: FaultRow[]): string {
  const byName = new Map<string, FaultRow>(rows.map((row) => [row.name, row]))
  const lines = Object.keys(FAULTS).flatMap((name) => lineOf(byName.get(name)))
  return [...HEAD, ...lines].join('\n')
}

function lineOf(row: FaultRow | undefined): string[] {
  if (!row) return []
  const { fault, promised, messages, lost, duplicates, recoverySeconds, runSeconds } = row
  const figures = [messages, lost, duplicates, recoverySeconds ?? '–', runSeconds]
  return [`| ${[fault, promised, ...figures.map((figure) => figure.toLocaleString('en-US'))].join(' | ')} |`]
}

const [file = ''] = process.argv.slice(2)
const lines = readFileSync(file, 'utf8').trim().split('\n')
console.info(tableOf(lines.map((line) => JSON.parse(line) as FaultRow)))
