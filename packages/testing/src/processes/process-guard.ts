/**
 * Ends the children of this process if this process is killed. A shell, the guard, waits until this process's end of a
 * pipe closes. Each child also starts as a shell, which waits until the guard knows its pid. So a kill at any moment
 * leaves no child behind. The local stack of `npm start` uses the same guard (`infra/dev/guard.mjs`).
 *
 *   spawned as a shell ─its pid is in the guard's pipe→ told to go, becomes the command;
 *   ─this process is gone→ ends
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/**
 * Reads `watch PID`, `forget PID` and `folder PATH`. When the pipe closes, it sends TERM to all watched processes, and
 * KILL after $1 tenths of a second. Then it removes the folders. It does not wait until killed processes have ended,
 * because in a container their exits may never be collected.
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

  /** `graceMs`: how long the children may take to end before they are killed. */
  constructor({ graceMs }: { graceMs: number }) {
    this.#graceMs = graceMs
  }

  /**
   * Spawns a child that does not outlive this process. The child leads its own process group, so a Ctrl-C of the
   * terminal reaches it only once, through this process.
   */
  spawn(command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn('sh', ['-c', CHILD, 'fantail-child', command, ...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const go = child.stdio[3] as Writable | undefined
    go?.on('error', () => {
      // The child has ended before it became the command. Its exit reports that.
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

  /** `known` is called even if there is no guard. */
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
    // The guard was killed. The owner of the children still supervises them.
  })
  // The guard waits for the end of this process, and must not delay it.
  shell.unref()
  ;(shell.stdin as Socket | null)?.unref()
  return shell
}
