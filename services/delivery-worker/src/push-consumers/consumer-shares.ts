/**
 * Keeps the shares of this process, one for each batch that it is pushing. A receive takes a share. While the batch
 * lasts, this class renews the share once per beat. When the batch has ended, the consumer's next receive or the next
 * beat returns the share. If a process dies or freezes, others may take its shares ten seconds after its last beat
 * (queue-shares.lua).
 */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import type { PushConsumerRecords, Share } from '@fantail/store'

/** Time between two beats. Two beats in a row may fail before the shares are lost. */
const BEAT_MS = 3_000

interface ConsumerSharesOptions {
  consumers: Pick<PushConsumerRecords, 'keep'>
  log: Logger
}

export class ConsumerShares {
  readonly #consumers: Pick<PushConsumerRecords, 'keep'>
  readonly #log: Logger
  readonly #report: ReportState
  readonly #running = new Map<string, Share>()
  readonly #ended = new Map<string, Share>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor({ consumers, log }: ConsumerSharesOptions) {
    this.#consumers = consumers
    this.#log = log
    this.#report = createStateLog({ log, what: 'push_consumer_shares', initial: 'up' })
  }

  /** Adds a share that a receive has taken. */
  hold(share: Share): void {
    this.#running.set(share.batch, share)
    this.#arm()
  }

  /** Called when the batch of the share has ended. */
  end(share: Share): void {
    if (this.#running.delete(share.batch)) this.#ended.set(share.batch, share)
  }

  /** Called when the receive of the batch has failed. It may have taken the share all the same. */
  receiveFailed(share: Share): void {
    this.#ended.set(share.batch, share)
    this.#arm()
  }

  /** Ended batches of a consumer, whose shares a receive may give back. */
  endedOf(queueArn: string, consumer: string): string[] {
    const ended: string[] = []
    for (const share of this.#ended.values()) {
      if (share.queueArn === queueArn && share.consumer === consumer) ended.push(share.batch)
    }
    return ended
  }

  /** Called when these shares were returned. */
  returned(batches: string[]): void {
    for (const batch of batches) this.#ended.delete(batch)
  }

  /** Returns the shares of ended batches. The leases of the others end by themselves. */
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
    const shares = [...this.#running.values()]
    if (shares.length === 0) return
    const kept = await this.#consumers.keep(shares, 'renew')
    for (const [i, share] of shares.entries()) {
      // The share's lease has ended, so another process may push by now. The request was sent already and cannot be
      // undone.
      if (!kept[i] && this.#running.delete(share.batch))
        this.#log.warn({ ...share }, 'push_consumer.share_lost')
    }
  }

  async #giveBack(): Promise<void> {
    const shares = [...this.#ended.values()]
    if (shares.length === 0) return
    await this.#consumers.keep(shares, 'end')
    this.returned(shares.map(({ batch }) => batch))
  }
}
