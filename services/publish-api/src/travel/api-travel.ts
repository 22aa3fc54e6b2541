/** The API's part in time travel: it follows the time, as all processes do, and moves it when a test asks. */
import { FantailError, type QueueRecord } from '@fantail/contracts'
import { dispatchQueueName, queuePrefix } from '@fantail/jobs'
import { joinTravel, type Logger, type ServiceConnections, type TravelMode } from '@fantail/runtime'
import { passingTime, type Queues, type QueueUse, type QueueWaits, type WorkInHand } from '@fantail/store'
import { TimeTravel, type Travelled } from './time-travel.ts'

interface ApiTravelOptions {
  connections: Pick<ServiceConnections, 'redis' | 'subscriber'>
  settings: TravelMode & { queues: number }
  log: Pick<Logger, 'warn'>
}

interface Receivers {
  queues: Pick<Queues, 'renewLease'>
  queueWaits: Pick<QueueWaits, 'isServing' | 'checkAgain' | 'isWaiting'>
}

export class ApiTravel {
  readonly #options: ApiTravelOptions
  readonly #given = new GivenMessages()
  #leases: WaitingLeases | undefined
  #travel: TimeTravel | undefined

  constructor(options: ApiTravelOptions) {
    this.#options = options
  }

  get #isOn(): boolean {
    return this.#options.settings.timeTravel === 'on'
  }

  /** Counts the use of queues, and watches it if the time can be moved. */
  watching(use: QueueUse): QueueUse {
    return this.#isOn ? this.#given.watching(use) : use
  }

  /** Called at the start. Rejects with a TravelledDataError if the API must not use this data. */
  async join({ queues, queueWaits }: Receivers): Promise<void> {
    const { connections, settings, log } = this.#options
    const onProblem = (error: unknown) => log.warn({ err: error }, 'time_travel.renew_failed')
    const isWaiting = (arn: string) => queueWaits.isWaiting(arn)
    const leases = new WaitingLeases({ queues, isWaiting, onProblem })
    const traveller = {
      moved: () => queueWaits.checkAgain(),
      work: () => this.#work(queueWaits, leases),
    }
    const id = await joinTravel({ connections, settings, traveller, log })
    if (id === undefined) return
    this.#leases = leases
    this.#travel = new TimeTravel({
      ...connections,
      id,
      queues: [...dispatchQueues(settings.queues), 'redrive', 'maintenance'].map(
        (name) => `${queuePrefix(name)}:${name}`,
      ),
      onBegin: () => this.#given.begin(),
      onEnd: () => this.#given.end(),
    })
  }

  leaseRenewed(...[queue]: Parameters<WaitingLeases['keep']>): void {
    this.#leases?.keep(queue)
  }

  async advance(byMs: number, timeoutMs: number): Promise<Travelled> {
    if (!this.#travel) throw new FantailError('storage_unavailable', 'Redis has not answered yet')
    return this.#travel.advance(byMs, timeoutMs)
  }

  #work(queueWaits: Receivers['queueWaits'], { renewing }: WaitingLeases): WorkInHand {
    const counts: [number, string][] = [
      [Number(queueWaits.isServing), 'receives'],
      [this.#given.count, 'messages at consumers'],
      [renewing, 'leases'],
    ]
    const busy = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
    return { busy, activity: this.#given.receives }
  }
}

function dispatchQueues(count: number): string[] {
  return Array.from({ length: count }, (_, number) => dispatchQueueName(number))
}

/** How long the time waits for consumers of the test to delete received messages. Past it: the time moves on. */
const CONSUMERS_MS_MAX = 1_000

/**
 * Messages that consumers of the test have received while the time moves. A consumer handles them in real time. If the
 * time moved on at once, their visibility timeouts would end meanwhile. So they count as under way until they are
 * deleted, or until the consumer has had some time.
 */
class GivenMessages {
  /** By queue: the number of messages that were received and not deleted. undefined: the time does not move. */
  #given: Map<string, number> | undefined
  #latestAt = Number.NEGATIVE_INFINITY
  #receives = 0

  begin(): void {
    this.#given = new Map()
  }

  end(): void {
    this.#given = undefined
  }

  /** The number of receives that returned messages. */
  get receives(): number {
    return this.#receives
  }

  get count(): number {
    if (performance.now() - this.#latestAt > CONSUMERS_MS_MAX) return 0
    return [...(this.#given ?? new Map<string, number>()).values()].reduce((sum, count) => sum + count, 0)
  }

  /** Counts what the given one counts. */
  watching(use: QueueUse): QueueUse {
    return {
      sent: (arn, sizes) => use.sent(arn, sizes),
      deduplicated: (arn, messages) => use.deduplicated(arn, messages),
      emptyReceive: (arn) => use.emptyReceive(arn),
      received: (arn, messages) => {
        use.received(arn, messages)
        this.#add(arn, messages)
        this.#receives++
        this.#latestAt = performance.now()
      },
      deleted: (arn, messages) => {
        use.deleted(arn, messages)
        this.#add(arn, -messages)
      },
    }
  }

  /** Messages that were given out before are not waited for, so their deletion must not count either. */
  #add(arn: string, messages: number): void {
    const count = Math.max(0, (this.#given?.get(arn) ?? 0) + messages)
    this.#given?.set(arn, count)
  }
}

/** The share of a lease's time after which the lease is renewed. */
const RENEWED_PART = 0.5

interface WaitingLeasesOptions {
  queues: Pick<Queues, 'renewLease'>
  /** Whether a long poll waits at the queue. */
  isWaiting(arn: string): boolean
  onProblem(error: unknown): void
}

/**
 * Renews the leases of queues with a waiting long poll while the time moves. A client would renew the lease with its
 * next poll, but that comes in real time.
 */
class WaitingLeases {
  readonly #options: WaitingLeasesOptions
  /** ARNs of queues whose leases are kept. */
  readonly #kept = new Set<string>()
  #renewing = 0

  constructor(options: WaitingLeasesOptions) {
    this.#options = options
  }

  get renewing(): number {
    return this.#renewing
  }

  /** Tells that a receive has just renewed the lease of the queue. */
  keep(queue: QueueRecord): void {
    if (this.#kept.has(queue.arn)) return
    this.#kept.add(queue.arn)
    this.#later(queue)
  }

  #later(queue: QueueRecord): void {
    passingTime.after((queue.leaseSeconds ?? 0) * 1_000 * RENEWED_PART, () => void this.#renew(queue))
  }

  async #renew(queue: QueueRecord): Promise<void> {
    const { queues, isWaiting, onProblem } = this.#options
    if (!isWaiting(queue.arn)) {
      this.#kept.delete(queue.arn)
      return
    }
    this.#renewing++
    try {
      await queues.renewLease(queue)
      this.#later(queue)
    } catch (error) {
      this.#kept.delete(queue.arn)
      onProblem(error)
    } finally {
      this.#renewing--
    }
  }
}
