/**
 * Which topics exist, and how many subscriptions a publish reaches, at most a second old: the publish route asks for every
 * message. A change announced by Redis, or made through this process, drops the entry at once.
 *
 * Topics that do not exist are not remembered: they are rare, and one that is made elsewhere must be found. A lookup that
 * was under way when its topic changed answers its callers and is not kept.
 */
import { MESSAGE_BYTES_MAX, type TopicRecord } from '@fantail/contracts'
import type { Topics } from '@fantail/store'

const AGE_MAX_MS = 1_000
/** Past this age an entry still answers, and is looked up anew beside it, so that busy topics never wait. */
const REFRESH_MS = 500
const ENTRIES_MAX = 10_000

export interface KnownTopic {
  uid: string
  /** Active and paused subscriptions: what each message is expected to reach. */
  fanOut: number
  record: TopicRecord
  /** Of a message's text and attributes: SNS's limit, or the topic's own. */
  messageBytesMax: number
}

interface Entry extends KnownTopic {
  at: number
}

export interface TopicCacheOptions {
  topics: Pick<Topics, 'getWithCounts'>
  /** Monotonic ms. */
  now?: () => number
}

export class TopicCache {
  readonly #topics: Pick<Topics, 'getWithCounts'>
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  readonly #lookups = new Map<string, Promise<KnownTopic | null>>()

  constructor(options: TopicCacheOptions) {
    this.#topics = options.topics
    this.#now = options.now ?? (() => performance.now())
  }

  /** The topic where it is known, without a trip; undefined where `find` has to ask. */
  known(arn: string): KnownTopic | undefined {
    const entry = this.#entries.get(arn)
    if (entry === undefined) return undefined
    const age = this.#now() - entry.at
    if (age > AGE_MAX_MS) return undefined
    // A failed refresh is not told here: the entry runs out, and `find` then fails its callers.
    if (age > REFRESH_MS && !this.#lookups.has(arn)) this.find(arn).catch(() => undefined)
    return entry
  }

  /** Asks Redis; null: no such topic. Callers at the same time share one question. */
  find(arn: string): Promise<KnownTopic | null> {
    const running = this.#lookups.get(arn)
    if (running) return running
    const lookup: Promise<KnownTopic | null> = this.#look(arn, () => this.#lookups.get(arn) === lookup)
    this.#lookups.set(arn, lookup)
    return lookup
  }

  /** Drops what is known of a topic that changed; anything but a topic's ARN changes nothing. */
  forget(arn: string): void {
    this.#entries.delete(arn)
    this.#lookups.delete(arn)
  }

  /** Drops everything: announcements may have been missed. */
  clear(): void {
    this.#entries.clear()
    this.#lookups.clear()
  }

  async #look(arn: string, isCurrent: () => boolean): Promise<KnownTopic | null> {
    const at = this.#now()
    try {
      const found = await this.#topics.getWithCounts(arn)
      const topic = found && {
        uid: found.topic.uid,
        fanOut: found.subscriptions.active + found.subscriptions.paused,
        record: found.topic,
        messageBytesMax: Number(found.topic.attributes.MaximumMessageSize ?? MESSAGE_BYTES_MAX),
      }
      if (isCurrent()) this.#keep(arn, topic && { ...topic, at })
      return topic
    } finally {
      if (isCurrent()) this.#lookups.delete(arn)
    }
  }

  #keep(arn: string, entry: Entry | null): void {
    this.#entries.delete(arn)
    if (entry === null) return
    if (this.#entries.size >= ENTRIES_MAX) this.#entries.clear()
    this.#entries.set(arn, entry)
  }
}
