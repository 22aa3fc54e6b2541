// @ts-check
/**
 * The dev task of a service: runs its sources, starts it again when it dies and when a source is edited, and ends it
 * cleanly. Neither turbo nor `node --watch` starts a killed service again.
 *
 *   node keep-running.mjs src/main.ts
 */
import { spawn } from 'node:child_process'
import { basename, resolve } from 'node:path'
import { forwardOutput } from './output.mjs'
import { whenStackEnds } from './stack-end.mjs'
import { supervise } from './supervise.mjs'
import { watchSources } from './watch-sources.mjs'

const service = process.cwd()
const name = basename(service)
const entry = resolve(service, process.argv[2] ?? 'src/main.ts')
const env = { FANTAIL_MODE: 'local', ...process.env }

// First of all: until then a signal would end this process and leave the service to its guard.
whenStackEnds(async () => {
  await running.stop()
  process.exit(0)
})

const running = supervise({
  name,
  launch: () =>
    spawn(process.execPath, ['--conditions=@fantail/source', '--enable-source-maps', entry], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  onStart: forwardOutput,
})

watchSources(service, (file) => {
  console.log(`${file} was edited, starting ${name} again`)
  running.replace()
})
