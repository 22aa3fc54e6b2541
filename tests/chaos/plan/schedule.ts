/**
 * The schedule of a seed: all requests and all faults of a run, as plain data, made before anything starts. Times are
 * milliseconds from the start of the run.
 */
import { type Fault, planFaults } from './fault-plan.ts'
import { type Input, planInputs } from './input-plan.ts'
import { Seeded } from './seeded.ts'

export interface Schedule {
  seed: number
  seconds: number
  /** Redis has a replica that publishes wait for. A failover makes it the master. */
  replicated: boolean
  inputs: Input[]
  faults: Fault[]
}

export function createSchedule(seed: number, seconds: number): Schedule {
  const seeded = new Seeded(seed)
  const replicated = seeded.fork('replicated').chance(0.5)
  const faults = planFaults(seeded.fork('faults'), { endMs: seconds * 1_000, replicated })
  const inputs = planInputs(seeded.fork('inputs'), seconds * 1_000)
  return { seed, seconds, replicated, inputs, faults }
}

/** The schedule in order of time, one line each. People read it, and runs can be compared by it. */
export function scheduleLines({ seed, seconds, replicated, inputs, faults }: Schedule): string[] {
  const steps = [...inputs, ...faults].sort((a, b) => a.at - b.at)
  return [JSON.stringify({ seed, seconds, replicated }), ...steps.map((step) => JSON.stringify(step))]
}
