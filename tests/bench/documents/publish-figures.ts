/**
 * `npm run bench -- all --write`: measures every figure of the documents in one run, and writes the raw log and the
 * tables. Without `all` it writes only the tables again, from the log that is there.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FIGURES_LOG, hotPathSince } from '../../../infra/release/figures-check.mjs'
import type { BenchOptions } from '../options.ts'
import { commitOf, ROOT } from '../processes/checkout.ts'
import { runScenarios } from '../run-scenarios.ts'
import { headOf, parseLog } from './figures-log.ts'
import { BASELINE, publishedScenarios } from './published-tables.ts'
import { DOCUMENTS, missingIn, withTables } from './table-regions.ts'

/** A trial writes here, and a run that misses figures. */
const TRIAL = join(ROOT, '.fantail', 'bench-documents')

/** Returns 1 if a figure could not be measured. The documents then stay as they are. */
export async function publishFigures(options: BenchOptions): Promise<number> {
  const isMeasured = options.scenarios.length > 0
  const text = isMeasured ? await measuredLog(options) : logThere()
  const log = parseLog(text)
  const missing = missingIn(log)
  for (const figure of missing) options.report(`no scenario has measured ${figure}`)
  const folder = log.head.quick || missing.length > 0 ? TRIAL : ROOT
  save(join(folder, FIGURES_LOG), text)
  for (const document of DOCUMENTS) {
    save(join(folder, document), withTables(document, readFileSync(join(ROOT, document), 'utf8'), log))
  }
  options.report(`${[FIGURES_LOG, ...DOCUMENTS].join(', ')} are written in ${folder}`)
  return missing.length > 0 ? 1 : 0
}

function logThere(): string {
  const file = join(ROOT, FIGURES_LOG)
  if (!existsSync(file)) throw new Error(`there is no ${FIGURES_LOG}: \`all --write\` measures it`)
  return readFileSync(file, 'utf8')
}

async function measuredLog(options: BenchOptions): Promise<string> {
  const [changed] = options.quick ? [] : await hotPathSince(ROOT, 'HEAD')
  if (changed !== undefined) throw new Error(`commit first: ${changed} differs from the last commit`)
  const against = commitOf(BASELINE)
  const lines = [JSON.stringify(await headOf(options.quick))]
  const scenarios = publishedScenarios()
  await runScenarios({ ...options, against, scenarios }, (line) => lines.push(line))
  return `${lines.join('\n')}\n`
}

function save(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
