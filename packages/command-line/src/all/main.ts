/** The process of `fantail all` with options: it starts and watches as many services as the cores allow. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { readApiSettings } from '@fantail/config'
import { printableLines } from '@fantail/policy'
import { createLogger } from '@fantail/runtime'
import { EXIT_CODES } from '../output/exit-codes.ts'
import { help, isHelp } from '../output/output.ts'
import { ALL_USAGE, type Counts, countsFor, opsPort } from './process-counts.ts'
import { supervise } from './supervise-services.ts'

// Declared first, because the command runs while this module is loaded.
const OPTIONS = { workers: { type: 'string' }, apis: { type: 'string' } } as const
const args = process.argv.slice(3)
process.exitCode = isHelp(args) ? help(ALL_USAGE) : await run()

async function run(): Promise<number> {
  let counts: Counts
  let port: number
  const cores = availableParallelism()
  try {
    counts = countsFor(cores, parseArgs({ args, options: OPTIONS }).values)
    port = readApiSettings(process.env).port
    opsPort(port, 'api', counts.apis)
  } catch (error) {
    console.error(printableLines(`fantail all: ${error instanceof Error ? error.message : error}`))
    return EXIT_CODES.usage
  }
  const log = createLogger({ service: 'all', level: process.env.FANTAIL_LOG_LEVEL })
  const opsPorts = { workers: opsPort(port, 'worker', 1), apis: opsPort(port, 'api', 1) }
  log.info({ cores, ...counts, port, firstOpsPorts: opsPorts, pid: process.pid }, 'all.starting')
  const launcher = process.argv[1] ?? ''
  return await supervise({ counts, port, launcher, log })
}
