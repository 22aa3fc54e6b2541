/** A dev task as a child of the test, in its own folder. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@fantail/test-kit'
import { processOf } from '../bootstrap/processes.mjs'

export const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export const newFolder = () => mkdtemp(join(tmpdir(), 'fantail-dev-'))

export interface DevTask {
  child: ChildProcess
  /** Its output so far. */
  output: () => string
  /** Resolves with the exit code, or with the signal that ended the task. */
  ended: Promise<number | string>
}

/** Runs a command, Node or a shell, with its output collected. */
export function run(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): DevTask {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  return { child, output: () => text, ended }
}

/** The living processes that this process has started. */
export function childrenOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([child = 0, parent]) => parent === pid && isAlive(child))
    .map(([child = 0]) => child)
}

/** A dead process whose parent has not collected it yet does not count as alive. */
export const isAlive = (pid: number) => processOf(pid) !== undefined

export const isGone = (pid: number) => waitFor(() => !isAlive(pid), { what: `process ${pid} to end` })

export const removeFolder = (path: string) => rm(path, { recursive: true, force: true })
