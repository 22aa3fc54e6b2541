/**
 * The processes of a run. They are started here, and identified by pid. All end before the bench does, however it ends.
 * If a process ends unexpectedly, the bench ends too, because later figures would mean nothing.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { whenAnswering } from './ipc.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

const KILL_AFTER_MS = 10_000
/** Children print to stderr, because stdout has results only. */
const STDERR = 2
const running = new Map<ChildProcess, string>()
const ending = new Set<ChildProcess>()

/** Starts a process of the bench, and resolves when it answers questions. */
export async function startOwn(file: string, env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...env },
    stdio: ['ignore', STDERR, STDERR, 'ipc'],
  })
  keep(child, file)
  await whenAnswering(child)
  return child
}

export function start(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
  cwd = root,
): ChildProcess {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', STDERR, STDERR],
  })
  keep(child, [command, ...args].join(' '))
  return child
}

function keep(child: ChildProcess, what: string): void {
  running.set(child, what)
  child.once('error', (error) => void abandon(`${what} could not be started: ${error.message}`))
  child.once('exit', (code, signal) => {
    running.delete(child)
    if (!ending.delete(child)) void abandon(`${what} ended (${signal ?? code})`)
  })
}

async function abandon(why: string): Promise<void> {
  console.error(`bench: ${why}`)
  await endAll()
  process.exit(1)
}

/** Sends SIGTERM, and SIGKILL if the process does not end. */
export async function end(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  ending.add(child)
  const kill = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  child.kill('SIGTERM')
  await ended
  clearTimeout(kill)
}

export async function endAll(): Promise<void> {
  await Promise.all([...running.keys()].map(end))
}

/** Ends all processes at Ctrl-C and similar signals. `clean` runs last. */
export function endOnSignals(clean: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(
      signal,
      () =>
        void endAll()
          .then(clean)
          .finally(() => process.exit(1)),
    )
  }
}

/** Linux reports CPU time to programs in this unit, whatever the tick of the kernel is. */
const TICKS_PER_SECOND = 100

/** CPU time that a process has used so far; NaN if there is no /proc. */
export function cpuMs(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND
  } catch {
    return Number.NaN
  }
}
