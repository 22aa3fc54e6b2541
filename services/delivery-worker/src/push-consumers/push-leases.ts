/**
 * Keeps the leases of this process, one for each batch that it is pushing. A receive takes a lease. While the batch
 * lasts, this class renews the lease once per beat. When the batch has ended, the consumer's next receive or the next
 * beat returns the lease. If a process dies or freezes, others may take its leases ten seconds after its last beat
 * (push-leases.lua).
 */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import type { PushConsumerRecords, PushLease } from '@fantail/store'

/** Time between two beats. Two beats in a row may fail before the leases are lost. */
const BEAT_MS = 3_000

interface PushLeasesOptions {
  consumers: Pick<PushConsumerRecords, 'keep'>
  log: Logger
}

export class PushLeases {
  readonly #consumers: Pick<PushConsumerRecords, 'keep'>
  readonly #log: Logger
  readonly #report: ReportState
  readonly #running = new Map<string, PushLease>()
  readonly #ended = new Map<string, PushLease>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor({ consumers, log }: PushLeasesOptions) {
    this.#consumers = consumers
    this.#log = log
    this.#report = createStateLog({ log, what: 'push_leases', initial: 'up' })
  }

  /** Adds a lease that a receive has taken. */
  hold(lease: PushLease): void {
    this.#running.set(lease.batch, lease)
    this.#arm()
  }

  /** Called when the batch of the lease has ended. */
  end(lease: PushLease): void {
    if (this.#running.delete(lease.batch)) this.#ended.set(lease.batch, lease)
  }

  /** Called when the receive of the batch has failed. It may have taken the lease all the same. */
  receiveFailed(lease: PushLease): void {
    this.#ended.set(lease.batch, lease)
    this.#arm()
  }

  /** Ended batches of a consumer, whose leases a receive may give back. */
  endedOf(queueArn: string, consumer: string): string[] {
    const ended: string[] = []
    for (const lease of this.#ended.values()) {
      if (lease.queueArn === queueArn && lease.consumer === consumer) ended.push(lease.batch)
    }
    return ended
  }

  /** Called when these leases were returned. */
  returned(batches: string[]): void {
    for (const batch of batches) this.#ended.delete(batch)
  }

  /** Returns the leases of ended batches. Those of the others end by themselves. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#giveBack().catch((error: unknown) => this.#report('down', error))
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => void this.#beat(), BEAT_MS)
  }

  async #beat(): Promise<void> {
    try {
      await Promise.all([this.#renew(), this.#giveBack()])
      this.#report('up')
    } catch (error) {
      this.#report('down', error)
    }
    this.#timer = undefined
    if (!this.#stopped && (this.#running.size > 0 || this.#ended.size > 0)) this.#arm()
  }

  async #renew(): Promise<void> {
    const leases = [...this.#running.values()]
    if (leases.length === 0) return
    const kept = await this.#consumers.keep(leases, 'renew')
    for (const [i, lease] of leases.entries()) {
      // The lease has ended, so another process may push by now. The request was sent already and cannot be
      // undone.
      if (!kept[i] && this.#running.delete(lease.batch))
        this.#log.warn({ ...lease }, 'push_consumer.lease_lost')
    }
  }

  async #giveBack(): Promise<void> {
    const leases = [...this.#ended.values()]
    if (leases.length === 0) return
    await this.#consumers.keep(leases, 'end')
    this.returned(leases.map(({ batch }) => batch))
  }
}
