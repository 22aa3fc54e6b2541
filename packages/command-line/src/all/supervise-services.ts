/**
 * Runs many processes of Fantail on one machine: starting → running ⇄ replacing → stopping → gone.
 *
 * APIs share FANTAIL_PORT. This process owns its socket and hands each connection to the next API (node:cluster). With
 * SO_REUSEPORT each API would own a socket, but a socket that closes resets the connections that wait for it: 33 of
 * 6,340 in 20 restarts. If all APIs accepted from one socket, most connections would go to the same API.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import cluster from 'node:cluster'
import type { Logger } from '@fantail/runtime'
import { type Counts, opsPort } from './process-counts.ts'
import { SupervisedProcess } from './supervised-process.ts'

const CONDITION = '--conditions=@fantail/source'

interface SupervisorOptions {
  counts: Counts
  /** FANTAIL_PORT. */
  port: number
  /** The path of `fantail`. */
  launcher: string
  log: Logger
}

/**
 * Runs until a signal ends it. Returns 0 if each process could be started, and could end by itself. Otherwise it
 * returns the exit code of the process that could not be started, or 1.
 */
export async function supervise({ counts, port, launcher, log }: SupervisorOptions): Promise<number> {
  const processes = createProcesses({ counts, port, launcher, log })
  const stopping = stopOnSignals(processes, log)
  const started = Promise.all(processes.map((child) => child.start()))
  replaceOnSignal(processes, { log, started })
  try {
    await started
    log.info('all.started')
  } catch (error) {
    if (!stopping.isAsked()) {
      log.error({ err: error }, 'all.failed')
      await Promise.all(processes.map((child) => child.stop()))
      return processes.find(({ exitCode }) => exitCode > 0)?.exitCode ?? 1
    }
  }
  return (await stopping.stopped) ? 0 : 1
}

/** In the order of replacements. Any order would do, because processes of two releases work side by side. */
function createProcesses({ counts, port, launcher, log }: SupervisorOptions): SupervisedProcess[] {
  const execArgv = [...process.execArgv.filter((word) => word !== CONDITION), CONDITION]
  // It would be the same port for every process.
  const { FANTAIL_OPS_PORT: _, ...env } = process.env
  const launch = (role: string, own: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, [...execArgv, launcher, role], {
      env: { ...env, ...own },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  cluster.setupPrimary({ exec: launcher, args: ['api'], execArgv })
  const supervised = (name: string, start: () => ChildProcess) =>
    new SupervisedProcess({ name, launch: start, log })
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  return [
    ...numbers(counts.workers).map((number) => {
      const own = { FANTAIL_OPS_PORT: String(opsPort(port, 'worker', number)) }
      return supervised(`worker-${number}`, () => launch('worker', own))
    }),
    supervised('redrive', () => launch('redrive')),
    ...numbers(counts.apis).map((number) => {
      const own = { FANTAIL_API_OPS_PORT: String(opsPort(port, 'api', number)) }
      return supervised(`api-${number}`, () => forkApi(own))
    }),
  ]
}

function forkApi(env: NodeJS.ProcessEnv): ChildProcess {
  const { process: child } = cluster.fork(env)
  // Connections may be on their way to an API that takes no more. Its messages and ours keep their order, so it has
  // refused all of them when it reads the answer.
  child.on('message', (message) => message === 'closed' && child.connected && child.send('closed'))
  return child
}

/** `stopped` resolves when all have ended: with false, if a second signal has killed them. */
function stopOnSignals(
  processes: SupervisedProcess[],
  log: Logger,
): { isAsked(): boolean; stopped: Promise<boolean> } {
  let signals = 0
  const stopped = new Promise<boolean>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      signals++
      log.info({ signal }, signals > 1 ? 'all.killing' : 'all.stopping')
      if (signals > 1) for (const child of processes) child.kill()
      else void Promise.all(processes.map((child) => child.stop())).then(() => resolve(signals === 1))
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
  return { isAsked: () => signals > 0, stopped }
}

/** A signal during a replacement asks for one more, because the code may have changed again. */
function replaceOnSignal(
  processes: SupervisedProcess[],
  { log, started }: { log: Logger; started: Promise<unknown> },
): void {
  let isAsked = false
  let isReplacing = false
  const replaceAll = async () => {
    isReplacing = true
    try {
      await started
      while (isAsked) {
        isAsked = false
        log.info('all.replacing')
        for (const child of processes) await child.replace()
        log.info('all.replaced_all')
      }
    } catch (error) {
      isAsked = false
      log.error({ err: error }, 'all.replace_failed')
    }
    isReplacing = false
  }
  process.on('SIGHUP', () => {
    isAsked = true
    if (!isReplacing) void replaceAll()
  })
}
