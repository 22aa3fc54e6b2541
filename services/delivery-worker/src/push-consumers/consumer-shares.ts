/**
 * The shares that this process holds, one for each batch that it is pushing. A receive takes a share, and it is renewed
 * here while the batch lasts. When the batch has ended, the share goes back with the consumer's next receive, or with
 * the next beat. If a process dies or freezes, others may take its share ten seconds after its last beat
 * (queue-shares.lua).
 */
import { createStateLog, type Logger, type ReportState } from '@fantail/runtime'
import type { Consumers, Share } from '@fantail/store'

/** Two beats may fail. */
const BEAT_MS = 3_000

interface ConsumerSharesOptions {
  consumers: Pick<Consumers, 'keep'>
  log: Logger
}

export class ConsumerShares {
  readonly #consumers: Pick<Consumers, 'keep'>
  readonly #log: Logger
  readonly #report: ReportState
  readonly #held = new Map<string, Share>()
  readonly #ended = new Map<string, Share>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor({ consumers, log }: ConsumerSharesOptions) {
    this.#consumers = consumers
    this.#log = log
    this.#report = createStateLog({ log, what: 'consumer_shares', initial: 'up' })
  }

  /** Taken by a receive. */
  hold(share: Share): void {
    this.#held.set(share.batch, share)
    this.#arm()
  }

  /** Its batch is over. */
  end(share: Share): void {
    if (this.#held.delete(share.batch)) this.#ended.set(share.batch, share)
  }

  /** Ended batches of a consumer, whose shares a receive may give back. */
  endedOf(queueArn: string, consumer: string): string[] {
    const ended: string[] = []
    for (const share of this.#ended.values()) {
      if (share.queueArn === queueArn && share.consumer === consumer) ended.push(share.batch)
    }
    return ended
  }

  /** They have been given back. */
  returned(batches: string[]): void {
    for (const batch of batches) this.#ended.delete(batch)
  }

  /** Gives ended shares back. The leases of the others end by themselves. */
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
    if (!this.#stopped && (this.#held.size > 0 || this.#ended.size > 0)) this.#arm()
  }

  async #renew(): Promise<void> {
    const shares = [...this.#held.values()]
    if (shares.length === 0) return
    const kept = await this.#consumers.keep(shares, 'renew')
    for (const [i, share] of shares.entries()) {
      // The share's lease has ended, so another process may push by now. The request was sent already and cannot be
      // undone.
      if (!kept[i] && this.#held.delete(share.batch)) this.#log.warn({ ...share }, 'consumer.share_lost')
    }
  }

  async #giveBack(): Promise<void> {
    const shares = [...this.#ended.values()]
    if (shares.length === 0) return
    await this.#consumers.keep(shares, 'end')
    this.returned(shares.map(({ batch }) => batch))
  }
}
