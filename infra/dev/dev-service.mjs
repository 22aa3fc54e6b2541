// @ts-check
/** Runs one service of the local stack from its sources, and starts it again if it dies. */
import { basename, join } from 'node:path'
import { localSettings } from '../bootstrap/stack.mjs'
import { spawnGuarded } from './guard.mjs'
import { forwardLines } from './output.mjs'
import { supervise } from './supervise.mjs'

const FLAGS = ['--conditions=@fantail/source', '--enable-source-maps']

/** @param {string} folder with `src/main.ts` */
export function runDevService(folder) {
  const name = basename(folder)
  const env = { ...localSettings(process.env), ...process.env }
  return supervise({
    name,
    launch: () =>
      spawnGuarded(process.execPath, [...FLAGS, join(folder, 'src', 'main.ts')], { cwd: folder, env }),
    onStart: (child) => forwardLines(child, name),
  })
}
