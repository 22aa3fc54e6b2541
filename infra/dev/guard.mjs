// @ts-check
/** Ends the processes of the local stack if the process that started them is killed. */
import { Guard } from '../../packages/testing/src/processes/process-guard.ts'

/** Longer than a worker takes to finish its attempts. */
const GRACE_MS = 20_000

const guard = new Guard({ graceMs: GRACE_MS })

/**
 * Spawns a child that does not outlive this process.
 * @param {string} command
 * @param {string[]} args
 * @param {import('../../packages/testing/src/processes/process-guard.ts').SpawnOptions} [options]
 */
export function spawnGuarded(command, args, options) {
  return guard.spawn(command, args, options)
}
