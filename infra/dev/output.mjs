// @ts-check
/**
 * Children print through their supervisor. If turbo was killed, no process reads the pipe any more. A service would
 * then die of the broken pipe in the middle of its clean stop.
 */

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

/** @param {import('node:child_process').ChildProcess} child */
export function forwardOutput(child) {
  child.stdout?.on('data', (chunk) => process.stdout.write(chunk))
  child.stderr?.on('data', (chunk) => process.stderr.write(chunk))
}
