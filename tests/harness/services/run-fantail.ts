/**
 * Runs commands of `fantail` as processes of their own, as a user does. Each must end as its row in
 * `command-outputs.ts` says.
 */
import { spawn } from 'node:child_process'
import { checkRun } from '../command-line/checked-runs.ts'
import { machineEnv } from '../runs/machine-env.ts'
import { launcher } from './service-bundles.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface FantailOptions {
  env?: Record<string, string>
  stdin?: string
}

export function runFantail(words: string[], { env = {}, stdin = '' }: FantailOptions = {}): Promise<Ended> {
  const child = startFantail(words, env)
  child.stdin.on('error', () => undefined) // It may end before it has read everything.
  child.stdin.end(stdin)
  return endOf(child, words)
}

export interface RunningFantail {
  /** Its output so far. */
  so: Ended
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** Starts a command that runs until it is stopped. The caller must stop it. */
export function followFantail(
  words: string[],
  env: Record<string, string> = {},
  { keepsStdin = false }: { keepsStdin?: boolean } = {},
): RunningFantail {
  const child = startFantail(words, env)
  if (!keepsStdin) child.stdin.end()
  const so: Ended = { code: null, stdout: '', stderr: '' }
  return { so, kill: (signal) => child.kill(signal), ended: endOf(child, words, so) }
}

type FantailProcess = ReturnType<typeof startFantail>

/** Starts a command. */
function startFantail(words: string[], env: Record<string, string> = {}) {
  return spawn(process.execPath, [launcher(), ...words], {
    env: { ...machineEnv(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

function endOf(
  child: FantailProcess,
  words: string[],
  ended: Ended = { code: null, stdout: '', stderr: '' },
): Promise<Ended> {
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ended.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ended.stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      try {
        checkRun(words, { ...ended, code })
        resolve({ ...ended, code })
      } catch (error) {
        reject(error)
      }
    })
  })
}
