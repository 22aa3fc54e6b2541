// @ts-check
/** One service of the local stack, from its sources, started again when it dies. */
import { spawn } from 'node:child_process'
import { basename, join } from 'node:path'
import { forwardLines } from './output.mjs'
import { supervise } from './supervise.mjs'

const FLAGS = ['--conditions=@fantail/source', '--enable-source-maps']

/** @param {string} folder with `src/main.ts` */
export function runDevService(folder) {
  const name = basename(folder)
  const env = { FANTAIL_MODE: 'local', ...process.env }
  return supervise({
    name,
    launch: () =>
      spawn(process.execPath, [...FLAGS, join(folder, 'src', 'main.ts')], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    onStart: (child) => forwardLines(child, name),
  })
}
