/**
 * The changes of records that Redis announces. Caches drop what has changed, and everything after a gap in the
 * announcements.
 *
 * A script announces a change as it makes it. A message that this process then sends to itself, over the connection of
 * its commands, comes after all earlier announcements of that master. So when the message arrives, no change from
 * before it is missing, even if the connection of the announcements still leads to a replaced master. This does not
 * hold in a cluster, where changes are announced by several masters.
 */
import { randomUUID } from 'node:crypto'
import { changesEchoes, type Redis, WAKE_CHANGES } from '@fantail/store'

/** How long the answer to a question may take. Past it: records are read, and the question is asked again. */
const ECHO_MS_MAX = 300

export type ChangeSubscriber = Pick<Redis, 'on' | 'status' | 'subscribe'>

interface AnnouncedChangesOptions {
  subscriber: ChangeSubscriber
  /** The connection of commands, over which records are read. */
  redis: Pick<Redis, 'on' | 'publish'>
  /** Monotonic ms. */
  now?: () => number
}

interface ChangedCache {
  forget(id: string): void
  clear(): void
}

export class AnnouncedChanges {
  readonly #options: AnnouncedChangesOptions
  /** The channel of the messages to itself. */
  readonly #echoes = changesEchoes(randomUUID())
  readonly #now: () => number
  #isSubscribed = false
  #asked = 0
  /** When the latest question was asked. undefined: it is answered. */
  #askedAt: number | undefined
  #completeAt = Number.NEGATIVE_INFINITY

  constructor(options: AnnouncedChangesOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    // The next connection may lead to a master that has lost changes.
    options.redis.on('close', () => this.#forgetAnswers())
  }

  /** The announcements of all changes from before this time have arrived. */
  get completeAt(): number {
    return this.#completeAt
  }

  /** Asks for a later `completeAt`, unless a question is under way. False: an answer cannot be expected now. */
  ask(): boolean {
    if (!this.#isSubscribed) return false
    const now = this.#now()
    const isOverdue = this.#askedAt !== undefined && now - this.#askedAt > ECHO_MS_MAX
    if (this.#askedAt === undefined || isOverdue) {
      this.#askedAt = now
      // A question without an answer is asked again.
      this.#options.redis.publish(this.#echoes, String(++this.#asked)).catch(() => undefined)
    }
    return !isOverdue
  }

  /** Removes announced changes from the caches. After a gap in the announcements, everything is removed. */
  follow(caches: ChangedCache[]): void {
    const { subscriber } = this.#options
    subscriber.on('message', (channel: string, text: string) => {
      if (channel === WAKE_CHANGES) for (const cache of caches) cache.forget(text)
      else if (channel === this.#echoes) this.#answered(text)
    })
    const clear = () => {
      for (const cache of caches) cache.clear()
    }
    const subscribe = () => {
      lost()
      clear()
      // Records that were cached before Redis confirmed the subscription may have changed without a notice. If this
      // fails, the connection has broken again, and its next start runs this again.
      subscriber.subscribe(WAKE_CHANGES, this.#echoes).then(
        () => {
          clear()
          this.#isSubscribed = true
        },
        () => undefined,
      )
    }
    const lost = () => {
      this.#isSubscribed = false
      this.#forgetAnswers()
    }
    subscriber.on('close', lost)
    subscriber.on('ready', subscribe)
    if (subscriber.status === 'ready') subscribe()
  }

  #answered(question: string): void {
    if (this.#askedAt === undefined || question !== String(this.#asked)) return
    this.#completeAt = this.#askedAt
    this.#askedAt = undefined
  }

  #forgetAnswers(): void {
    this.#askedAt = undefined
    this.#completeAt = Number.NEGATIVE_INFINITY
  }
}
