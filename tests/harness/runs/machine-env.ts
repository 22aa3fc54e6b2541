/** The environment of the processes that tests start. */
import { fileURLToPath } from 'node:url'

/**
 * The folder in which Node keeps compiled code for all processes of a test run. It is in the checkout and not in the
 * temporary folder, because there another user of the machine could write code into it.
 */
export const COMPILED_CODE = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url))

/**
 * The environment of a process, without other settings of the machine. Processes share compiled code, because a start
 * without it takes more than twice the CPU, and a test may start many. `fantail` would keep it in the user's folder.
 */
export function machineEnv(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE: COMPILED_CODE, ...(TMPDIR === undefined ? {} : { TMPDIR }) }
}
