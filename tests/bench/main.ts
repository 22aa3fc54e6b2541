/** `npm run bench` runs the named scenarios, or the contest if none is named. USAGE in options.ts explains it. */
import { conditions, contest } from './contest/contest.ts'
import { publishFigures } from './documents/publish-figures.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { stopEveryRedis } from './processes/bench-redis.ts'
import { endAll, endOnSignals } from './processes/children.ts'
import { jsonLine, tables } from './report/report.ts'
import { sum } from './report/summary.ts'
import { runScenarios } from './run-scenarios.ts'

async function bench(options: BenchOptions): Promise<number> {
  if (options.write) return publishFigures(options)
  if (options.scenarios.length > 0) return runScenarios(options)
  const rounds = await contest(options)
  if (options.json) for (const [name, measured] of rounds) console.log(jsonLine(name, measured))
  else console.log(`\n${tables(rounds)}\n\n${conditions(options, rounds)}`)
  return [...rounds.values()].some(({ fantail }) => sum(fantail, 'lost') > 0) ? 1 : 0
}

endOnSignals(stopEveryRedis)
try {
  process.exitCode = await bench(readOptions(process.argv.slice(2)))
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
} finally {
  await endAll()
  await stopEveryRedis()
}
