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
import { Slot } from './slot.ts'

const CONDITION = '--conditions=@fantail/source'

interface SupervisorOptions {
  counts: Counts
  /** FANTAIL_PORT. */
  port: number
  /** The path of `fantail`. */
  launcher: string
  log: Logger
}

/** Runs until a signal ends it. Returns whether each process could be started. */
export async function supervise({ counts, port, launcher, log }: SupervisorOptions): Promise<boolean> {
  const slots = createSlots({ counts, port, launcher, log })
  const stopped = new Promise<void>((resolve) => stopOnSignals(slots, { log, stopped: resolve }))
  try {
    await Promise.race([Promise.all(slots.map((slot) => slot.start())), stopped])
  } catch (error) {
    log.error({ err: error }, 'all.failed')
    await Promise.all(slots.map((slot) => slot.stop()))
    return false
  }
  log.info('all.started')
  replaceOnSignal(slots, log)
  await stopped
  return true
}

/** In the order of replacements: a new API may accept requests that old workers do not know. */
function createSlots({ counts, port, launcher, log }: SupervisorOptions): Slot[] {
  const execArgv = [...process.execArgv.filter((word) => word !== CONDITION), CONDITION]
  // It would be the same port for every process.
  const { FANTAIL_OPS_PORT: _, ...env } = process.env
  const launch = (role: string, own: NodeJS.ProcessEnv = {}) =>
    spawn(process.execPath, [...execArgv, launcher, role], {
      env: { ...env, ...own },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
  cluster.setupPrimary({ exec: launcher, args: ['api'], execArgv })
  const slot = (name: string, start: () => ChildProcess) => new Slot({ name, launch: start, log })
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  return [
    ...numbers(counts.workers).map((number) => {
      const own = { FANTAIL_OPS_PORT: String(opsPort(port, 'worker', number)) }
      return slot(`worker-${number}`, () => launch('worker', own))
    }),
    slot('redrive', () => launch('redrive')),
    ...numbers(counts.apis).map((number) => {
      const own = { FANTAIL_API_OPS_PORT: String(opsPort(port, 'api', number)) }
      return slot(`api-${number}`, () => forkApi(own))
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

function stopOnSignals(slots: Slot[], { log, stopped }: { log: Logger; stopped: () => void }): void {
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, isStopping ? 'all.killing' : 'all.stopping')
    if (isStopping) for (const slot of slots) slot.kill()
    else void Promise.all(slots.map((slot) => slot.stop())).then(stopped)
    isStopping = true
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** A signal during a replacement asks for one more, because the code may have changed again. */
function replaceOnSignal(slots: Slot[], log: Logger): void {
  let asked = 0
  const replaceAll = async () => {
    for (let done = 0; done < asked; done++) {
      log.info('all.replacing')
      for (const slot of slots) await slot.replace()
      log.info('all.replacedAll')
    }
  }
  process.on('SIGHUP', () => {
    if (asked === 2) return
    if (asked++ > 0) return
    void replaceAll()
      .catch((error) => log.error({ err: error }, 'all.notReplaced'))
      .finally(() => (asked = 0))
  })
}
