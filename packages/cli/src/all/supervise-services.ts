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

/** Runs until a signal ends it. Returns whether each process could be started, and could end by itself. */
export async function supervise({ counts, port, launcher, log }: SupervisorOptions): Promise<boolean> {
  const slots = createSlots({ counts, port, launcher, log })
  const stopping = stopOnSignals(slots, log)
  const started = Promise.all(slots.map((slot) => slot.start()))
  replaceOnSignal(slots, { log, started })
  try {
    await started
    log.info('all.started')
  } catch (error) {
    if (!stopping.isAsked()) {
      log.error({ err: error }, 'all.failed')
      await Promise.all(slots.map((slot) => slot.stop()))
      return false
    }
  }
  return await stopping.stopped
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

/** `stopped` resolves when all have ended: with false, if a second signal has killed them. */
function stopOnSignals(slots: Slot[], log: Logger): { isAsked(): boolean; stopped: Promise<boolean> } {
  let signals = 0
  const stopped = new Promise<boolean>((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      signals++
      log.info({ signal }, signals > 1 ? 'all.killing' : 'all.stopping')
      if (signals > 1) for (const slot of slots) slot.kill()
      else void Promise.all(slots.map((slot) => slot.stop())).then(() => resolve(signals === 1))
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
  return { isAsked: () => signals > 0, stopped }
}

/** A signal during a replacement asks for one more, because the code may have changed again. */
function replaceOnSignal(slots: Slot[], { log, started }: { log: Logger; started: Promise<unknown> }): void {
  let isAsked = false
  let isReplacing = false
  const replaceAll = async () => {
    isReplacing = true
    try {
      await started
      while (isAsked) {
        isAsked = false
        log.info('all.replacing')
        for (const slot of slots) await slot.replace()
        log.info('all.replacedAll')
      }
    } catch (error) {
      isAsked = false
      log.error({ err: error }, 'all.notReplaced')
    }
    isReplacing = false
  }
  process.on('SIGHUP', () => {
    isAsked = true
    if (!isReplacing) void replaceAll()
  })
}
