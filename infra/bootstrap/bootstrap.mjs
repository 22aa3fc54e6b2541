// @ts-check
/**
 * Installs what is missing, then runs the command. Plain JavaScript without packages, for any Node from 18 on.
 * Everything after it runs on the Node that the repository pins.
 *
 * node infra/bootstrap/main.mjs start | test [files…] | quick | build | bench [options…] | chaos [options…] | fuzz
 *   [cases] | release [version] | fantail …
 */
import { bench, build, chaos, fantail, fetchAhead, fuzz, quick, release, test } from './checks.mjs'
import { toolEnvironment } from './environment.mjs'
import { start } from './start.mjs'
import { StepError } from './steps.mjs'
import { installPackages } from './tools/packages.mjs'

const COMMANDS = new Map(Object.entries({ start, test, quick, build, bench, chaos, fuzz, release, fantail }))

const [name = '', ...args] = process.argv.slice(2)
const command = COMMANDS.get(name)

try {
  if (!command)
    throw new StepError(`usage: node infra/bootstrap/main.mjs ${[...COMMANDS.keys()].join(' | ')}`)
  // Its only parameter is the environment.
  if (command.length === 1 && args.length > 0)
    throw new StepError(`${name} takes no arguments, but got ${args.join(' ')}`)
  const needsAll = command === test && args.length === 0
  const ahead = needsAll ? fetchAhead(toolEnvironment(process.env)) : undefined
  await installPackages(process.env)
  process.exitCode = await command(toolEnvironment(process.env), args)
  await ahead
} catch (error) {
  if (!(error instanceof StepError)) throw error
  console.error(`\nfantail: ${error.message}\n`)
  process.exitCode = 1
}
