/** The API's part in time travel: it follows the time, as all processes do, and moves it when a test asks. */
import { FantailError } from '@fantail/contracts'
import { dispatchQueueName, queuePrefix } from '@fantail/jobs'
import { joinTravel, type Logger, type ServiceConnections, type TravelMode } from '@fantail/runtime'
import type { Queues, QueueUse, QueueWaits, WorkInHand } from '@fantail/store'
import { GivenMessages } from './given-messages.ts'
import { TimeTravel, type Travelled } from './time-travel.ts'
import { WaitingLeases } from './waiting-leases.ts'

interface ApiTravelOptions {
  connections: Pick<ServiceConnections, 'redis' | 'subscriber'>
  settings: TravelMode & { queues: number }
  log: Pick<Logger, 'warn'>
}

interface Receivers {
  queues: Pick<Queues, 'renewLease'>
  queueWaits: Pick<QueueWaits, 'isServing' | 'lookAgain' | 'isWaiting'>
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
    const onProblem = (error: unknown) => log.warn({ err: error }, 'time_travel.lease_unrenewed')
    const isWaiting = (arn: string) => queueWaits.isWaiting(arn)
    const leases = new WaitingLeases({ queues, isWaiting, onProblem })
    const traveller = {
      moved: () => queueWaits.lookAgain(),
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

  /** A receive has renewed the lease of the queue. */
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
