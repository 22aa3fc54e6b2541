// @ts-check
/**
 * Ends the children of this process if it is killed: one shell waits for our end of a pipe to close. A child waits
 * likewise until the guard knows its pid, so a kill at any moment leaves none behind.
 *
 * spawned as a shell ─its pid is in the guard's pipe→ told to go, becomes the command;  ─we are gone→ ends
 */
import { spawn } from 'node:child_process'

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

/** Waits for a line, and then becomes the command, with the same pid. */
const CHILD = 'read -r go <&3 && exec "$@" 3<&-'

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {import('node:stream').Writable} Writable
 */

/**
 * Spawns a child that does not outlive this process. It leads its own process group, so that a Ctrl-C of the terminal
 * reaches it once, through us.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function spawnGuarded(command, args, options = {}) {
  const child = spawn('sh', ['-c', CHILD, 'fantail-child', command, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const go = /** @type {Writable | undefined} */ (child.stdio[3])
  go?.on('error', () => {
    // The child has ended before it began, and says so by its exit.
  })
  if (child.pid !== undefined) watch(child, child.pid, () => go?.end('go\n'))
  return child
}

/** @type {Writable | undefined} what the guard reads */
let orders

/** @param {ChildProcess} child @param {number} pid @param {() => void} known called even without a guard */
function watch(child, pid, known) {
  orders ??= startGuard()
  orders.write(`watch ${pid}\n`, known)
  child.once('exit', () => orders?.write(`forget ${pid}\n`))
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
