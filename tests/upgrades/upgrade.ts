/** A stack whose processes are restarted, each with this release or the next one, while messages are published. */
import type { Receiver } from '@fantail/test-kit'
import { expect } from 'vitest'
import type { Seeded } from '../chaos/plan/seeded.ts'
import { KilledWork } from '../harness/ledgers/killed-work.ts'
import { type Account, Ledger } from '../harness/ledgers/ledger.ts'
import type { ServiceProcess } from '../harness/services/service-process.ts'
import type { Stack } from '../harness/services/stack.ts'

export const LONG = process.env.FANTAIL_UPGRADES_LONG === '1'
const PER_SECOND = LONG ? 25 : 10
/** Every fourth first attempt at one endpoint fails, so that lanes have deliveries at each restart. */
const FAILS_EVERY = 4
const KILLED_SHARE = 0.25

const SUBSCRIPTIONS = {
  '/plain': {},
  '/failing': {
    deliveryPolicy: { healthyRetryPolicy: { minDelayTarget: 1, maxDelayTarget: 1, numRetries: 10 } },
  },
  '/paced': { deliveryPolicy: { throttlePolicy: { maxReceivesPerSecond: 2 * PER_SECOND } } },
}

/** The name of a release of `releases`, or `this`. */
type Release = string

interface UpgradeOptions {
  stack: Stack
  receiver: Receiver
  /** Folders of bundles. */
  releases: Record<string, string>
  /** The releases that random restarts choose from. Default: this one and the next. */
  between?: [Release, Release]
  seeded: Seeded
}

/** Every message arrived, and nothing ended otherwise. */
export function expectExact(account: Account): void {
  expect(account).toMatchObject({ refused: 0, lost: 0, deadLettered: 0, discarded: 0, expired: 0 })
  expect([account.unknown, account.quarantined, account.delivered]).toEqual([0, 0, account.owed])
  expect(account.accepted).toBeGreaterThan(0)
}

export class Upgrade {
  readonly ledger: Ledger
  readonly #options: UpgradeOptions
  readonly #killed = new KilledWork()

  private constructor(ledger: Ledger, options: UpgradeOptions) {
    this.ledger = ledger
    this.#options = options
  }

  static async open(options: UpgradeOptions): Promise<Upgrade> {
    const { stack, receiver } = options
    receiver.respond('/failing', ({ attempt }, n) => ({
      status: attempt === 1 && n % FAILS_EVERY === 0 ? 503 : 204,
    }))
    const topic = 'upgrade'
    const ledger = await Ledger.open({ stack, receiver, topic, subscriptions: SUBSCRIPTIONS, again: true })
    return new Upgrade(ledger, options)
  }

  /** Publishes while `restarts` runs. Resolves with the account when everything is delivered. */
  async underLoad(prefix: string, restarts: () => Promise<void>): Promise<Account> {
    let isDone = false
    const until = () => isDone
    const publishing = this.ledger.publishAtRate({ count: PER_SECOND, perSecond: PER_SECOND, prefix, until })
    try {
      await restarts()
    } finally {
      isDone = true
      await publishing
    }
    return await this.ledger.whenSettled({ timeoutMs: 60_000 })
  }

  /** Restarts random processes with a random release, one after the other. */
  async restart(count: number): Promise<void> {
    const { seeded, stack, between = ['this', 'next'] } = this.#options
    for (let n = 0; n < count; n++) {
      const service = seeded.pick(stack.services())
      const isKilled = seeded.chance(KILLED_SHARE)
      const start = () => this.startAs(service, seeded.pick(between))
      if (isKilled && service.name === 'delivery-worker') {
        await this.#killed.restart(service, stack.connection, start)
      } else {
        if (isKilled) await service.kill()
        await start()
      }
    }
  }

  /** Checks that only killed workers have repeated deliveries. Must be called when all work has ended. */
  expectRepeatsExplained(): void {
    this.#killed.expectExplained(this.#options.stack.workers, this.ledger.arrivals())
  }

  /** Brings every process to the release, in a random order. */
  async bringAll(release: Release, services = this.#options.stack.services()): Promise<void> {
    const { seeded } = this.#options
    const left = services.filter((service) => service.bundles !== this.#bundles(release) || !service.running)
    while (left.length > 0) {
      const [service] = left.splice(seeded.between(0, left.length - 1), 1)
      if (service) await this.startAs(service, release)
    }
  }

  /** Stops the process, if it runs, and starts it with the release. */
  async startAs(service: ServiceProcess, release: Release): Promise<void> {
    if (service.running) {
      const code = await service.stop()
      if (code !== 0) throw new Error(`${service.label} ended with ${code}`)
    }
    service.bundles = this.#bundles(release)
    await service.start()
  }

  #bundles(release: Release): string | undefined {
    return release === 'this' ? undefined : this.#options.releases[release]
  }
}
