/**
 * Counts Redis's commands around attempts, by MONITOR. A run is a script with all its commands, or one other command.
 * Runs are counted whole. A total of commands depends on how many attempts one run has, and on whether a periodic write
 * falls into the window. These counts depend on neither.
 */
import { type SeenCommand, watchCommands } from '@fantail/test-kit'
import type { Redis } from 'ioredis'

const LANE_ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

/** Commands of the runs that claim deliveries, or of those that settle them. */
interface Part {
  runs: number
  deliveries: number
  /** Commands that name a lane. */
  ofLanes: number
  /** Commands that name none. */
  ofRuns: number
}

export interface LaneCommands {
  claims: Part
  settlements: Part
  /** Runs that looked for due deliveries and claimed nothing, and how many of their commands name a lane. */
  vain: { runs: number; ofLanes: number }
  /** Commands of other runs that name one of these lanes: statistics, results, recorded attempts. */
  records: number
  /** Commands of runs that name no lane, except those in vain. */
  idle: number
  seconds: number
}

/** Words of a command: Lua's, or those of a client. */
type Words = string[]
interface Run {
  script: string
  /** The call of the script first. */
  commands: Words[]
}

/** Counts from now until the returned function is called. */
export async function watchLaneCommands(redis: Redis): Promise<() => Promise<LaneCommands>> {
  const seen = await watchCommands(redis)
  const startedAt = performance.now()
  return async () => {
    const seconds = (performance.now() - startedAt) / 1_000
    return count(runsOf(await seen()), seconds)
  }
}

function runsOf(commands: SeenCommand[]): Run[] {
  const runs: Run[] = []
  for (const { inScript, words } of commands) {
    if (inScript) runs.at(-1)?.commands.push(words)
    else runs.push({ script: words.slice(0, 2).join(' '), commands: [words] })
  }
  return runs
}

function count(runs: Run[], seconds: number): LaneCommands {
  const claims = runs.filter((run) => leases(run, 'ZADD') > 0)
  const settlements = runs.filter((run) => leases(run, 'ZREM') > 0 && !claims.includes(run))
  const takes = new Set(claims.map(({ script }) => script))
  const vain = runs.filter((run) => takes.has(run.script) && !claims.includes(run))
  const others = runs.filter((run) => !takes.has(run.script) && !settlements.includes(run))
  const lanes = new Set([...claims, ...settlements].flatMap(({ commands }) => commands.flatMap(lanesOf)))
  const records = others.flatMap(({ commands }) =>
    commands.filter((words) => lanesOf(words).some((id) => lanes.has(id))),
  )
  return {
    claims: part(claims, 'ZADD'),
    settlements: part(settlements, 'ZREM'),
    vain: { runs: vain.length, ofLanes: ofLanes(vain) },
    records: records.length,
    idle: sumOf(others.filter(({ commands }) => !commands.some(namesLane))),
    seconds,
  }
}

/** Commands that name lanes, for the claim of an attempt and its settlement. Runs in vain count, too. */
export function perAttempt({ claims, settlements, vain }: LaneCommands): number {
  return (claims.ofLanes + vain.ofLanes) / claims.deliveries + settlements.ofLanes / settlements.deliveries
}

/** However many attempts it has, a run that claims and a run that settles need this many besides. */
export function perRun({ claims, settlements }: LaneCommands): number {
  return claims.ofRuns / claims.runs + settlements.ofRuns / settlements.runs
}

function part(runs: Run[], lease: 'ZADD' | 'ZREM'): Part {
  const deliveries = runs.reduce((sum, run) => sum + leases(run, lease), 0)
  return { runs: runs.length, deliveries, ofLanes: ofLanes(runs), ofRuns: sumOf(runs) - ofLanes(runs) }
}

const ofLanes = (runs: Run[]) => runs.flatMap(({ commands }) => commands.filter(namesLane)).length

const sumOf = (runs: Run[]) => runs.reduce((sum, { commands }) => sum + commands.length, 0)

/** How many deliveries the run puts into lanes' leases, or removes from them. */
function leases({ commands }: Run, command: 'ZADD' | 'ZREM'): number {
  return commands.filter(([name, key]) => name === command && key?.includes(':lease:')).length
}

const namesLane = (words: Words) => lanesOf(words).length > 0

/** The call of a script names lanes in its arguments, but counts as a command of the run. */
function lanesOf([name = '', ...words]: Words): string[] {
  return /^eval/i.test(name) ? [] : words.flatMap((word) => word.match(LANE_ID) ?? [])
}
