/**
 * One process that `fantail all` keeps alive. A process that ends by itself is started again after a pause. In a
 * replacement the new process starts and is ready before the old one is told to stop.
 */
import type { ChildProcess } from 'node:child_process'
import type { Logger } from '@fantail/runtime'

/** Pause before an ended process is started again. It doubles with each end. */
const RESTART_MS_MIN = 1_000
/** The pause grows no further. */
const RESTART_MS_MAX = 30_000
/** A process that has lived for so long counts as sound, so its next restart comes soon. */
const SOUND_MS = 60_000
/** @limit Time that a replacement may take to be ready. Past it: it is killed, and the old process stays. */
const READY_MS = 60_000
/** @limit Time for a process to end after SIGTERM. Past it: it is killed. Services end by themselves within 18 s. */
const END_MS = 20_000

interface SupervisedOptions {
  name: string
  launch: () => ChildProcess
  log: Logger
}

export class SupervisedProcess {
  readonly name: string
  readonly #launch: () => ChildProcess
  readonly #log: Logger
  /** Each process that has not ended, with the promise of its end. */
  readonly #living = new Map<ChildProcess, Promise<void>>()
  #serving: ChildProcess | undefined
  /** The code of the process that ended last. 0: none, or a signal has killed it. */
  exitCode = 0
  #restart: NodeJS.Timeout | undefined
  #restartMs = RESTART_MS_MIN
  #isStopping = false

  constructor({ name, launch, log }: SupervisedOptions) {
    this.name = name
    this.#launch = launch
    this.#log = log.child({ process: name })
  }

  /** Resolves when the process is ready. Rejects if it ends before. */
  start(): Promise<void> {
    const child = this.#spawn()
    this.#serving = child
    return this.#whenReady(child)
  }

  /** Resolves when the old process has ended. Rejects if the new one is not ready in time; the old one then stays. */
  async replace(): Promise<void> {
    if (this.#isStopping) return
    const child = this.#spawn()
    const late = setTimeout(() => child.kill('SIGKILL'), READY_MS)
    try {
      await this.#whenReady(child)
    } finally {
      clearTimeout(late)
    }
    clearTimeout(this.#restart)
    const old = this.#serving
    this.#serving = child
    if (old) await this.#end(old)
    this.#log.info({ pid: child.pid, oldPid: old?.pid }, 'all.replaced')
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#restart)
    await Promise.all([...this.#living.keys()].map((child) => this.#end(child)))
  }

  kill(): void {
    for (const child of this.#living.keys()) child.kill('SIGKILL')
  }

  #spawn(): ChildProcess {
    const child = this.#launch()
    const startedAt = performance.now()
    // A process that cannot be started has no exit.
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => {
        this.exitCode = code ?? 0
        resolve(signal ?? `code ${code}`)
      })
      child.once('error', (error) => child.pid === undefined && resolve(error.message))
    })
    const gone = ended.then((how) => {
      this.#living.delete(child)
      if (child !== this.#serving || this.#isStopping) return
      this.#serving = undefined
      this.#startLater(how, performance.now() - startedAt)
    })
    this.#living.set(child, gone)
    return child
  }

  #startLater(how: string, livedMs: number): void {
    if (livedMs >= SOUND_MS) this.#restartMs = RESTART_MS_MIN
    const restartMs = this.#restartMs
    this.#restartMs = Math.min(RESTART_MS_MAX, restartMs * 2)
    this.#log.error({ how, livedMs: Math.round(livedMs), restartMs }, 'all.ended')
    this.#restart = setTimeout(() => {
      // Its end is reported where it is seen.
      this.start().then(
        () => this.#log.info({ pid: this.#serving?.pid }, 'all.restarted'),
        () => undefined,
      )
    }, restartMs)
  }

  #whenReady(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      child.on('message', (message) => message === 'ready' && resolve())
      this.#living.get(child)?.then(() => reject(new Error(`${this.name} ended before it was ready`)))
    })
  }

  async #end(child: ChildProcess): Promise<void> {
    const kill = setTimeout(() => child.kill('SIGKILL'), END_MS)
    child.kill('SIGTERM')
    await this.#living.get(child)
    clearTimeout(kill)
  }
}
