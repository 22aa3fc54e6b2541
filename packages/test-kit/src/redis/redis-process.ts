/** A redis-server of this machine as a child process, with its data in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * How a server is run. `start` starts it again on the same port with the same data. It need not wait until the server
 * answers.
 */
export interface RedisRuntime {
  pid(): number
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Removes the data of a server that was killed. */
  remove(): Promise<void>
  /** Why the server that was started last has ended. undefined: it runs. */
  ended(): Promise<string | undefined>
  /** The end of what the server has logged, over all its starts. */
  logText(): Promise<string>
  /**
   * Whether this text (`INFO server`) comes from the server that was started last. Another server may answer at its
   * port.
   */
  isOwn(info: string): boolean
}

interface SpawnOptions {
  command: string
  port: number
  words: string[]
  /** Added to the environment. */
  env: Record<string, string>
}

const LOG_CHARS_SHOWN = 4_000

/**
 * Servers end with the test process, even if it crashes or its runner ends it by SIGTERM. In these cases a server may
 * still be alive, because hooks of skipped tests do not run.
 */
const living = new Set<ChildProcess>()
const killAll = () => {
  for (const child of living) child.kill('SIGKILL')
}
process.on('exit', killAll)
process.once('SIGTERM', () => {
  killAll()
  // Without another listener the process ends by the signal, as if there had been none.
  if (process.listenerCount('SIGTERM') === 0) process.kill(process.pid, 'SIGTERM')
})

/** Resolves when the process is started. It may not answer yet. */
export async function spawnServer({ command, port, words, env }: SpawnOptions): Promise<RedisRuntime> {
  const dir = await mkdtemp(join(tmpdir(), 'fantail-redis-'))
  const log = join(dir, 'redis.log')
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--logfile', log]
  const start = () => startProcess(command, [...place, ...words], log, env)
  let server = start()
  return {
    pid: () => server.pid,
    start: async () => {
      server = start()
    },
    kill: () => server.kill(),
    freeze: async () => server.signal('SIGSTOP'),
    thaw: async () => server.signal('SIGCONT'),
    remove: () => rm(dir, { recursive: true, force: true }),
    ended: () => server.ended(),
    logText: () => endOf(log),
    isOwn: (info) => server.isOwn(info),
  }
}

/** One process of a server or a Sentinel, which writes to this log. */
interface RedisProcess extends Pick<RedisRuntime, 'ended' | 'isOwn' | 'kill' | 'logText'> {
  pid: number
  signal(signal: NodeJS.Signals): void
}

export function startProcess(
  command: string,
  words: string[],
  log: string,
  env: Record<string, string> = {},
): RedisProcess {
  const child = spawn(command, words, { stdio: 'ignore', env: { ...process.env, ...env } })
  const { pid = 0 } = child
  living.add(child)
  child.once('exit', () => living.delete(child))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid,
    signal: (signal) => void child.kill(signal),
    kill: async () => {
      if (hasEnded()) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
    ended: async () => {
      if (!hasEnded()) return undefined
      return `${command} ended with ${child.exitCode ?? child.signalCode}\n${await endOf(log)}`
    },
    logText: () => endOf(log),
    isOwn: (info) => info.includes(`process_id:${pid}\r`),
  }
}

async function endOf(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => 'it left no log')
  return text.slice(-LOG_CHARS_SHOWN)
}
