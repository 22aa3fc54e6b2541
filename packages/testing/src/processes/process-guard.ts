/**
 * Ends the children of this process if it is killed: one shell waits for our end of a pipe to close. A child waits
 * likewise until the guard knows its pid, so a kill at any moment leaves none behind. The local stack of `npm start`
 * uses the same guard (`infra/dev/guard.mjs`).
 *
 * spawned as a shell ─its pid is in the guard's pipe→ told to go, becomes the command;  ─we are gone→ ends
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/**
 * Reads `watch PID`, `forget PID` and `folder PATH`. When the pipe closes: TERM to all that are watched, KILL after $1
 * tenths of a second, and then the folders are removed. It does not wait for the ends of killed ones, because in a
 * container nobody may collect them.
 */
const GUARD = `pids=
folders=
while read -r word value; do
  case "$word" in
    watch) pids="$pids $value" ;;
    folder) folders="$folders
$value" ;;
    forget)
      kept=
      for one in $pids; do [ "$one" = "$value" ] || kept="$kept $one"; done
      pids=$kept ;;
  esac
done
for one in $pids; do kill -TERM "$one" 2>/dev/null; done
n=0
while [ -n "$pids" ]; do
  n=$((n + 1))
  kept=
  for one in $pids; do
    kill -0 "$one" 2>/dev/null || continue
    if [ $n -gt "$1" ]; then kill -KILL "$one"; else kept="$kept $one"; fi
  done
  pids=$kept
  sleep 0.1
done
printf '%s\\n' "$folders" | while read -r one; do [ -n "$one" ] && rm -rf "$one"; done`

/** Waits for a line, and then becomes the command, with the same pid. */
const CHILD = 'read -r go <&3 && exec "$@" 3<&-'

export interface SpawnOptions {
  cwd?: string
  env?: NodeJS.ProcessEnv
}

export class Guard {
  readonly #graceMs: number
  #shell: ChildProcess | undefined

  /** `graceMs`: how long the children have to end, before they are killed. */
  constructor({ graceMs }: { graceMs: number }) {
    this.#graceMs = graceMs
  }

  /**
   * Spawns a child that does not outlive this process. It leads its own process group, so that a Ctrl-C of the terminal
   * reaches it once, through us.
   */
  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn('sh', ['-c', CHILD, 'fantail-child', command, ...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const go = child.stdio[3] as Writable | undefined
    go?.on('error', () => {
      // The child has ended before it began, and says so by its exit.
    })
    if (child.pid !== undefined) this.#watch(child, child.pid, () => go?.end('go\n'))
    return child
  }

  /** The folder is removed if this process is killed. */
  removeAtEnd(folder: string): void {
    this.#order(`folder ${folder}`)
  }

  /** Ends the guard itself. Its children must have ended, and its folders are removed. */
  async end(): Promise<void> {
    const shell = this.#shell
    if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return
    const ended = new Promise((resolve) => shell.once('exit', resolve))
    shell.ref()
    shell.stdin?.end()
    await ended
  }

  /** `known` is called even without a guard. */
  #watch(child: ChildProcess, pid: number, known: () => void): void {
    this.#order(`watch ${pid}`, known)
    child.once('exit', () => this.#order(`forget ${pid}`))
  }

  #order(line: string, written?: () => void): void {
    this.#shell ??= startShell(Math.ceil(this.#graceMs / 100))
    this.#shell.stdin?.write(`${line}\n`, written)
  }
}

function startShell(graceTenths: number): ChildProcess {
  const shell = spawn('sh', ['-c', GUARD, 'fantail-guard', String(graceTenths)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  shell.once('error', (error) => console.error(`no guard for the processes of the stack: ${error.message}`))
  shell.stdin?.on('error', () => {
    // The guard was killed; the children it watched are supervised all the same.
  })
  // It waits for the end of this process, and must not delay that.
  shell.unref()
  ;(shell.stdin as Socket | null)?.unref()
  return shell
}
