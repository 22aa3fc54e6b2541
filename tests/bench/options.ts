/** Parses the command line. npm and pnpm pass its words on unchanged. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { ContestOptions } from './contest/contest.ts'
import { NAMES, type Name } from './contest/contestant.ts'
import { commitOf } from './processes/checkout.ts'
import { earlier } from './scenarios/cost/earlier.ts'
import { SCENARIOS } from './scenarios/index.ts'

const USAGE = `usage: npm run bench -- [scenario…] [options]
without a scenario: Fantail against the others
  --json             a line of JSON per scenario instead of the tables
  --quick            fan-out 10 and 1, short rounds: less than 50 seconds
  --rounds N         rounds; each measures every contestant once in every scenario (5)
  --seconds N        time of publishing per measurement (4)
  --fanout 10,1      scenarios by fan-out
  --only fantail,…   some of ${NAMES.join(', ')}
  --against REV      an earlier commit, for the scenarios earlier (default: HEAD), fanout-10 and fanout-1
  --write            with "all": measures the figures of the documents, and writes log and tables;
                     alone: writes the tables again from the log; with --quick: below .fantail
  --cores 1,2,4,8    numbers of cores, for the scenario scale; default: 1, 2, 4 … up to the machine's
  --profile DIR      CPU profiles of Fantail's processes, and what its Redis did
scenarios (with --quick, --json, --profile, --against and --cores only; "all" for every one):
${SCENARIOS.map(({ name, summary }) => `  ${name.padEnd(18)} ${summary}`).join('\n')}`

export interface BenchOptions extends ContestOptions {
  json: boolean
  quick: boolean
  /** A commit of this repository. */
  against?: string | undefined
  /** Numbers of cores for the scenario scale. */
  cores?: number[] | undefined
  /** The figures of the documents are written. */
  write: boolean
  /** None: the contest. */
  scenarios: string[]
}

/** Within 50 s, this leaves time for starting and stopping. */
const QUICK_SECONDS = 42

/** Throws an Error with the usage if a word is unknown. */
export function readOptions(args: string[]): BenchOptions {
  // `pnpm bench -- --quick` and `npm run bench -- --quick` mean the same.
  const { values, positionals } = parse(args.filter((word) => word !== '--'))
  const { json = false, quick = false, write = false } = values
  const scenarios = scenarioNames(positionals, values.against)
  if (write && positionals.some((word) => word !== 'all')) {
    throw new Error(`--write takes all scenarios or none\n${USAGE}`)
  }
  const contestWords = (['rounds', 'seconds', 'fanout', 'only'] as const).filter((name) => values[name])
  if (scenarios.length > 0 && contestWords.length > 0) {
    throw new Error(`--${contestWords[0]} does not go with a scenario\n${USAGE}`)
  }
  return {
    json,
    quick,
    write,
    scenarios,
    rounds: numberOf('rounds', values.rounds, quick ? 3 : 5),
    seconds: numberOf('seconds', values.seconds, quick ? 1.2 : 4),
    warmUpSeconds: quick ? 1.2 : 3,
    budgetSeconds: quick ? QUICK_SECONDS : Number.POSITIVE_INFINITY,
    fanOuts: (values.fanout ?? (quick ? '10,1' : '10,1,100')).split(',').map((n) => numberOf('fanout', n, 0)),
    names: values.only?.split(',').map(nameOf) ?? [...NAMES],
    profileDir: values.profile,
    against: values.against === undefined ? undefined : commitOf(values.against),
    cores: values.cores?.split(',').map(coresOf),
    // Results alone go to stdout.
    report: (text) => console.error(text),
  }
}

/** Without a commit, `all` leaves out the scenario that needs one. */
function scenarioNames(words: string[], against: string | undefined): string[] {
  const known = SCENARIOS.map(({ name }) => name)
  const strange = words.find((word) => word !== 'all' && !known.includes(word))
  if (strange !== undefined) throw new Error(`there is no scenario ${strange}\n${USAGE}`)
  return words.includes('all')
    ? known.filter((name) => against !== undefined || name !== earlier.name)
    : words
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        fanout: { type: 'string' },
        only: { type: 'string' },
        profile: { type: 'string' },
        against: { type: 'string' },
        write: { type: 'boolean' },
        cores: { type: 'string' },
      },
    })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${USAGE}`)
  }
}

function numberOf(name: string, text: string | undefined, unset: number): number {
  if (text === undefined) return unset
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 1_000) {
    throw new Error(`--${name} takes whole numbers from 1 to 1000, not ${text}\n${USAGE}`)
  }
  return value
}

/** Throws if the machine has fewer. */
function coresOf(text: string): number {
  const cores = numberOf('cores', text, 1)
  const most = availableParallelism()
  if (cores > most)
    throw new Error(`--cores takes 1 to ${most} here, not ${cores}: this machine has ${most} cores`)
  return cores
}

function nameOf(text: string): Name {
  const name = NAMES.find((known) => known === text)
  if (!name) throw new Error(`there is no ${text}\n${USAGE}`)
  return name
}
