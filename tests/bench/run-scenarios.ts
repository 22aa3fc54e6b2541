/** Runs scenarios one after the other, with nothing else running, and returns their rows. */
import { availableParallelism, cpus } from 'node:os'
import type { BenchOptions } from './options.ts'
import { stopEveryRedis } from './processes/bench-redis.ts'
import { endAll } from './processes/children.ts'
import { othersRow, ticksNow } from './report/others.ts'
import { rowLine, rowTable } from './report/rows.ts'
import type { Row } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'

/**
 * Returns 1 if a scenario could not be measured. A missed bound is only shown in its row. `record` gets all progress
 * and all rows, each a line of JSON.
 */
export async function runScenarios(
  { scenarios, json, ...options }: BenchOptions,
  record: (line: string) => void = () => {},
): Promise<number> {
  const results = new Map<string, Row[]>()
  let failed = 0
  for (const { name, run } of SCENARIOS.filter((scenario) => scenarios.includes(scenario.name))) {
    const report = (text: string) => {
      record(JSON.stringify({ scenario: name, text }))
      options.report(`${name}: ${text}`)
    }
    try {
      const before = ticksNow()
      const rows = await run({ ...options, report })
      rows.push(othersRow(before))
      results.set(name, rows)
      for (const line of rows.map((row) => rowLine(name, row))) {
        record(line)
        if (json) console.log(line)
      }
    } catch (error) {
      failed++
      report(error instanceof Error ? (error.stack ?? error.message) : String(error))
    } finally {
      await endAll()
      await stopEveryRedis()
    }
  }
  if (!json) console.log(`\n${rowTable(results)}\n\n${machine()}`)
  return failed > 0 ? 1 : 0
}

function machine(): string {
  return `Node ${process.versions.node}, ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}).`
}
