/** A redis-server of this machine as a child process, its data in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RedisRuntime } from './redis-server.ts'

export interface SpawnOptions {
  command: string
  port: number
  words: string[]
  /** Added to the environment. */
  env: Record<string, string>
}

/** Whatever happens to the test process, its servers do not outlive it. */
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Resolves with the server spawned, before it answers. */
export async function spawnServer({ command, port, words, env }: SpawnOptions): Promise<RedisRuntime> {
  const dir = await mkdtemp(join(tmpdir(), 'fantail-redis-'))
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir]
  const options = { stdio: 'ignore' as const, env: { ...process.env, ...env } }
  const launch = () => {
    const launched = spawn(command, [...place, ...words], options)
    living.add(launched)
    launched.once('exit', () => living.delete(launched))
    return launched
  }
  let child = launch()
  return {
    pid: () => child.pid ?? 0,
    start: async () => {
      child = launch()
    },
    kill: () => kill(child),
    freeze: async () => void child.kill('SIGSTOP'),
    thaw: async () => void child.kill('SIGCONT'),
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
