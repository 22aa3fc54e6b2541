/**
 * The services of a run and their supervisor, which restarts a service that has ended. A service that ends without
 * being killed is recorded, because services must survive every fault of Redis.
 */
import { waitFor } from '@fantail/test-kit'
import { untilPassed } from '../../harness/services/passing-time.ts'
import type { ServiceProcess } from '../../harness/services/service-process.ts'
import type { ProcessLabel } from '../plan/fault-plan.ts'
import type { EventLog } from './run-folder.ts'

const LOOK_MS = 100
/** Pause before a service that ended by itself is started again. */
const AGAIN_MS = 500
const READY_TIMEOUT_MS = 90_000

interface Watched {
  service: ServiceProcess
  /** It is down on purpose. */
  isKilled: boolean
  starting: Promise<void> | undefined
}

export class Supervisor {
  /** Labels of services that ended by themselves, each as often as it did. */
  readonly ended: string[] = []
  readonly #watched = new Map<string, Watched>()
  readonly #events: EventLog
  readonly #timer: NodeJS.Timeout
  #stopped = false

  constructor(services: ServiceProcess[], events: EventLog) {
    this.#events = events
    for (const service of services)
      this.#watched.set(service.label, { service, isKilled: true, starting: undefined })
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  /** Resolves when all are ready. */
  async startAll(): Promise<void> {
    for (const watched of this.#watched.values()) this.#start(watched)
    await this.ready()
  }

  /** Resolves when every service is running and ready, after any fault. */
  async ready(): Promise<void> {
    for (const { service } of this.#watched.values()) {
      service.signal('SIGCONT')
      await waitFor(() => service.isReady(), {
        what: `${service.label} to be ready\n${service.logText()}`,
        timeoutMs: READY_TIMEOUT_MS,
        intervalMs: 50,
      })
    }
  }

  async kill(label: ProcessLabel, downMs: number): Promise<void> {
    const watched = this.#of(label)
    watched.isKilled = true
    await watched.service.kill()
    await watched.starting
    await untilPassed(downMs)
    this.#start(watched)
  }

  async freeze(label: ProcessLabel, forMs: number): Promise<void> {
    const { service } = this.#of(label)
    const { pid } = service
    service.signal('SIGSTOP')
    await untilPassed(forMs)
    // If the process was killed meanwhile, its successor is not frozen.
    if (service.pid === pid) service.signal('SIGCONT')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await Promise.all(
      [...this.#watched.values()].map(async (watched) => {
        watched.isKilled = true
        await watched.service.stop()
        await watched.starting
      }),
    )
  }

  #of(label: string): Watched {
    const watched = this.#watched.get(label)
    if (!watched) throw new RangeError(`no service ${label}`)
    return watched
  }

  #look(): void {
    for (const watched of this.#watched.values()) {
      const { service, isKilled, starting } = watched
      if (!isKilled && !starting && !service.running) this.#endedByItself(watched)
    }
  }

  #start(watched: Watched): void {
    if (this.#stopped) return
    watched.isKilled = false
    watched.starting = watched.service
      .start({ untilReady: false })
      .catch(() => undefined)
      .then(() => {
        watched.starting = undefined
      })
  }

  #endedByItself(watched: Watched): void {
    const { label } = watched.service
    this.ended.push(label)
    this.#events.note({ event: 'ended-by-itself', of: label, log: watched.service.logText() })
    watched.isKilled = true
    void untilPassed(AGAIN_MS).then(() => this.#start(watched))
  }
}
