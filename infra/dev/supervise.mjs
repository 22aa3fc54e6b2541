// @ts-check
/**
 * Keeps one child running: it is started again 0.5 s after it dies. It is stopped with a signal and, after a grace
 * period, killed.
 *
 * running ─dies→ waiting ─0.5 s→ running;  any ─stop()→ stopping → stopped
 */
const RESTART_MS = 500
const GRACE_MS = 20_000

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {object} Supervised
 * @property {string} name
 * @property {() => ChildProcess} launch starts the child, by `spawnGuarded`
 * @property {(child: ChildProcess) => void} [onStart]
 */

/** @param {Supervised} supervised */
export function supervise({ name, launch, onStart }) {
  /** @type {ChildProcess | undefined} */
  let child
  /** @type {NodeJS.Timeout | undefined} */
  let waiting
  let stopping = false
  let replacing = false
  const start = () => {
    const started = launch()
    child = started
    const ended = (/** @type {string} */ how) => {
      if (child !== started) return
      child = undefined
      if (stopping) return
      if (!replacing) console.error(`${name} ended (${how}), starting it again`)
      waiting = setTimeout(start, replacing ? 0 : RESTART_MS)
      replacing = false
    }
    started.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`))
    started.once('error', (error) => ended(error.message))
    onStart?.(started)
  }
  start()
  return {
    /** Replaces the child by a new one, at once after its clean end. */
    replace: () => {
      if (!child || replacing || stopping) return
      replacing = true
      void end(child)
    },
    /** Resolves when the child is gone and will not be started again. */
    stop: async () => {
      stopping = true
      clearTimeout(waiting)
      if (child) await end(child)
    },
  }
}

/** @param {ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await gone
  clearTimeout(timer)
}
