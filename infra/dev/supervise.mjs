// @ts-check
/**
 * Keeps one child running: it is started again 0.5 s after it dies. It is stopped with a signal and, after a grace
 * period, killed. It leads its own process group, so that a Ctrl-C of the terminal reaches it once, through us.
 *
 * running ─dies→ waiting ─0.5 s→ running;  any ─stop()→ stopping → stopped
 *
 * A guard ends the children if this process is killed: one shell that waits for our end of a pipe to close.
 */
import { spawn } from 'node:child_process'

const RESTART_MS = 500
const GRACE_MS = 20_000

/** Reads `watch PID` and `forget PID`. When the pipe closes: TERM to all that are watched, and KILL after 20 s. */
const GUARD = `pids=
while read -r word pid; do
  if [ "$word" = watch ]; then
    pids="$pids $pid"
  else
    kept=
    for one in $pids; do [ "$one" = "$pid" ] || kept="$kept $one"; done
    pids=$kept
  fi
done
for one in $pids; do kill -TERM "$one" 2>/dev/null; done
n=0
while [ -n "$pids" ]; do
  n=$((n + 1))
  kept=
  for one in $pids; do
    kill -0 "$one" 2>/dev/null || continue
    kept="$kept $one"
    [ $n -gt 200 ] && kill -KILL "$one"
  done
  pids=$kept
  sleep 0.1
done`

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {object} Supervised
 * @property {string} name
 * @property {() => ChildProcess} launch starts the child, `detached`
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
    const release = guard(started)
    child = started
    const ended = (/** @type {string} */ how) => {
      if (child !== started) return
      release()
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
    /** Resolves when the child is gone, for good. */
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

/** @type {import('node:stream').Writable | undefined} what the guard reads */
let orders

/** @param {ChildProcess} child @returns {() => void} to be called once it is gone */
function guard(child) {
  const { pid } = child
  if (pid === undefined) return () => {}
  orders ??= startGuard()
  orders.write(`watch ${pid}\n`)
  return () => orders?.write(`forget ${pid}\n`)
}

function startGuard() {
  const shell = spawn('sh', ['-c', GUARD, 'fantail-guard'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.once('error', (error) => console.error(`no guard for the processes of the stack: ${error.message}`))
  shell.stdin.on('error', () => {
    // The guard was killed; the children it watched are supervised all the same.
  })
  return shell.stdin
}
