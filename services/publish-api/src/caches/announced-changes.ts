/**
 * Follows the changes that Redis announces, and drops the changed records from the caches. It also finds out until when
 * all announcements have arrived: the process announces something to itself. What Redis has announced before that
 * arrives before it, because one connection brings both. A cluster's nodes pass announcements on in no order, so
 * nothing is known of a cluster.
 */
import { randomUUID } from 'node:crypto'
import { changesHeardChannel, isCluster, type Redis, WAKE_CHANGES } from '@fantail/store'

/** A question without an answer for this time is given up, and another one can be asked. */
const GIVEN_UP_MS = 3_000

export interface HeardChanges {
  /** Monotonic ms. Records that changed before it have been dropped. */
  readonly until: number
  /** When Redis was asked something that it has not answered. */
  readonly askedAt: number | undefined
  /** When a question failed last. */
  readonly failedAt: number
  /** Asks until when all announcements have arrived. The answer comes later. */
  ask(): void
}

interface ChangedCache {
  forget(id: string): void
  clear(): void
}

interface AnnouncedChangesOptions {
  redis: Pick<Redis, 'publish'>
  subscriber: Pick<Redis, 'on' | 'status' | 'subscribe'>
  /** Monotonic ms. */
  now?: () => number
}

export class AnnouncedChanges implements HeardChanges {
  until = Number.NEGATIVE_INFINITY
  failedAt = Number.NEGATIVE_INFINITY
  readonly #options: AnnouncedChangesOptions
  readonly #now: () => number
  readonly #channel = changesHeardChannel(randomUUID())
  #caches: readonly ChangedCache[] = []
  #asked: { text: string; at: number; isTaken: boolean } | undefined
  #questions = 0

  constructor(options: AnnouncedChangesOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Undefined: it cannot be found out. */
  get heard(): HeardChanges | undefined {
    return isCluster(this.#options.subscriber as Redis) ? undefined : this
  }

  get askedAt(): number | undefined {
    return this.#asked?.isTaken === false ? this.#asked.at : undefined
  }

  /** Removes announced changes from the caches. After a gap in the announcements, everything is removed. */
  follow(caches: readonly ChangedCache[]): void {
    const { subscriber } = this.#options
    this.#caches = caches
    subscriber.on('message', (channel: string, text: string) => {
      if (channel === WAKE_CHANGES) for (const cache of caches) cache.forget(text)
      else if (channel === this.#channel) this.#heard(text)
    })
    subscriber.on('ready', () => this.#subscribe())
    if (subscriber.status === 'ready') this.#subscribe()
  }

  ask(): void {
    const now = this.#now()
    if (this.#asked && now - this.#asked.at < GIVEN_UP_MS) return
    const asked = { text: `${++this.#questions}`, at: now, isTaken: false }
    this.#asked = asked
    this.#options.redis.publish(this.#channel, asked.text).then(
      () => {
        asked.isTaken = true
      },
      () => {
        this.failedAt = this.#now()
        if (this.#asked === asked) this.#asked = undefined
      },
    )
  }

  #heard(text: string): void {
    if (this.#asked?.text !== text) return
    this.until = this.#asked.at
    this.#asked = undefined
  }

  #subscribe(): void {
    this.#clear()
    // Records that were cached before Redis confirmed the subscription may have changed without a notice. If this
    // fails, the connection has broken again, and its next start runs this again.
    this.#options.subscriber.subscribe(WAKE_CHANGES, this.#channel).then(
      () => this.#clear(),
      () => undefined,
    )
  }

  #clear(): void {
    this.#asked = undefined
    for (const cache of this.#caches) cache.clear()
  }
}
