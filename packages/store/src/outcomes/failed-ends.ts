/**
 * Finds the messages whose latest delivery to a subscription has failed, by the outcome log. It reads the log once for
 * many messages, from the oldest of them to the end.
 */
import { formatMessageId, publishedAtOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { outcomeLogKey } from '../keys/keys.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { deliveryId } from '../lanes/records/generations.ts'
import { entriesIn, existingStreams } from './outcome-bundles.ts'
import { type Found, type LaneEntry, readEntry } from './outcome-entries.ts'
import { CLOCK_SLACK_MS } from './outcome-subscribers.ts'

/** Bundles of a stream that one read returns. They have about a megabyte at most. */
const FORWARD_BUNDLES_AT_ONCE = 250

interface FailedQuery {
  subscription: { id: string; shard: number }
  messageIds: readonly string[]
  /** Deliveries of this generation and later ones count as not yet made. */
  before: number
}

type Bundles = [id: Buffer, fields: Buffer[]][]

export class FailedEnds {
  readonly #redis: Redis
  readonly #lanes: Pick<Lanes, 'deliveryStates'>

  constructor(redis: Redis, lanes: Pick<Lanes, 'deliveryStates'>) {
    this.#redis = redis
    this.#lanes = lanes
  }

  /** Ids of the messages. A delivery that the log no longer has is not among them. */
  async find(query: FailedQuery): Promise<Set<string>> {
    if (query.messageIds.length === 0) return new Set()
    const found: Found = { dispatch: [], lanes: [] }
    const oldest = Math.min(...query.messageIds.map(publishedAtOf))
    const from = String(Math.max(0, oldest - CLOCK_SLACK_MS))
    const streams = await existingStreams(this.#redis)
    await Promise.all(streams.map((number) => this.#readStream(number, from, query, found)))
    return this.#notWaiting(failedIn(found, query), query)
  }

  async #readStream(number: number, from: string, query: FailedQuery, found: Found): Promise<void> {
    const wanted = new Set(query.messageIds)
    for (let after = from; ; ) {
      const key = outcomeLogKey(number)
      const bundles = (await this.#redis.xrangeBuffer(
        key,
        after,
        '+',
        'COUNT',
        FORWARD_BUNDLES_AT_ONCE,
      )) as Bundles
      for (const [, [, , , entries]] of bundles) {
        for (const { id, text } of entries ? entriesIn(entries) : []) {
          const messageId = formatMessageId(id)
          // Entries of dispatch are many, and say nothing about the end of a delivery in a lane.
          if (wanted.has(messageId) && text.includes(query.subscription.id))
            readEntry({ messageId, text }, found)
        }
      }
      const last = bundles.at(-1)
      if (!last || bundles.length < FORWARD_BUNDLES_AT_ONCE) return
      after = `(${last[0].toString()}`
    }
  }

  /** A dead letter may have been redriven, and wait again. The log has no entry about that. */
  async #notWaiting(failed: LaneEntry[], { subscription }: FailedQuery): Promise<Set<string>> {
    const asked = failed.filter(({ outcome }) => outcome === 'deadLettered')
    const refs = asked.map(({ messageId, generation }) => ({
      subscriptionId: subscription.id,
      delivery: deliveryId(messageId, generation + 1),
    }))
    const states = refs.length > 0 ? await this.#lanes.deliveryStates(subscription.shard, refs) : []
    const waiting = new Set(
      asked.flatMap(({ messageId }, i) => ((states[i]?.where ?? 'absent') === 'absent' ? [] : [messageId])),
    )
    return new Set(failed.map(({ messageId }) => messageId).filter((id) => !waiting.has(id)))
  }
}

/** The latest end of each message, where it is no success and nothing was resent after it. */
function failedIn({ lanes, resent = [] }: Found, { subscription, before }: FailedQuery): LaneEntry[] {
  const latest = new Map<string, LaneEntry>()
  for (const entry of lanes) {
    if (entry.subscriptionId !== subscription.id || entry.generation >= before) continue
    const known = latest.get(entry.messageId)
    if (!known || known.generation <= entry.generation) latest.set(entry.messageId, entry)
  }
  for (const { messageId, subscriptionId, generation } of resent) {
    if (subscriptionId !== subscription.id || generation >= before) continue
    if ((latest.get(messageId)?.generation ?? 0) < generation) latest.delete(messageId)
  }
  return [...latest.values()].filter(({ outcome }) => outcome !== 'delivered')
}
