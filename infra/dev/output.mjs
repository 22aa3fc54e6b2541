// @ts-check
/**
 * Children print through their supervisor. If turbo was killed, no process reads the pipe any more. A service would
 * then die of the broken pipe in the middle of its clean stop.
 */
import { createInterface } from 'node:readline'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const NAME_WIDTH = 15

/**
 * Prints whole lines, because several children share one output. Log lines name their service; other lines get the name
 * in front.
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 */
export function forwardLines(child, name) {
  const forward = (/** @type {import('node:stream').Writable} */ to) => (/** @type {string} */ line) => {
    if (line.trim() === '') return
    to.write(line.startsWith('{') ? `${line}\n` : `${name.padEnd(NAME_WIDTH)}  ${line}\n`)
  }
  if (child.stdout) createInterface({ input: child.stdout }).on('line', forward(process.stdout))
  if (child.stderr) createInterface({ input: child.stderr }).on('line', forward(process.stderr))
}
