/** Groups the entries that a search found by message, in the order in which they were found. */
import { publishedAtOf } from '@fantail/contracts'
import type { LaneEntry, LaneOutcome } from '../outcome-entries.ts'

/** `parked`: the delivery went to its lane, and may have ended since. */
export type SearchedState = LaneOutcome | 'filtered' | 'parked'

/** An end of a delivery that a lane wrote. */
interface FoundEnd extends Omit<LaneEntry, 'messageId' | 'storedAt' | 'why'> {
  /** Epoch ms. */
  endedAt: number
}

export interface FoundMessage {
  messageId: string
  /** null: no entry that was read names it, and it was deleted. */
  topicArn: string | null
  /** Bytes. null: unknown, like the topic. */
  sizeBytes: number | null
  publishedAt: number
  /** When the newest of its entries that was found was stored, epoch ms. */
  at: number
  /** Deliveries that were found, by state. */
  counts: Record<SearchedState, number>
  /** The newest ends that lanes wrote, newest first. */
  ends: FoundEnd[]
}

/** Ends that a search shows of one message. Past it: older ones are only counted. */
const SHOWN_ENDS_MAX = 10

export interface FoundEntry {
  messageId: string
  topicArn: string | null
  sizeBytes: number | null
  at: number
  counts: Partial<Record<SearchedState, number>>
  end?: FoundEnd
}

export class FoundMessages {
  readonly #byId = new Map<string, FoundMessage>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** false: it is full, and the entry is about a further message. */
  add(entry: FoundEntry): boolean {
    const { messageId, at, topicArn, sizeBytes } = entry
    const known = this.#byId.get(messageId)
    if (!known && this.#byId.size === this.#max) return false
    const message = known ?? emptyMessage(messageId, at)
    this.#byId.set(messageId, message)
    message.topicArn ??= topicArn
    message.sizeBytes ??= sizeBytes
    for (const [state, count] of Object.entries(entry.counts) as [SearchedState, number][])
      message.counts[state] += count
    if (entry.end && message.ends.length < SHOWN_ENDS_MAX) message.ends.push(entry.end)
    return true
  }

  list(): FoundMessage[] {
    return [...this.#byId.values()]
  }
}

function emptyMessage(messageId: string, at: number): FoundMessage {
  const counts = { delivered: 0, parked: 0, deadLettered: 0, discarded: 0, expired: 0, filtered: 0 }
  const publishedAt = publishedAtOf(messageId)
  return { messageId, topicArn: null, sizeBytes: null, publishedAt, at, counts, ends: [] }
}
