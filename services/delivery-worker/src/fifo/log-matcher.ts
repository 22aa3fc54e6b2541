/** Matches messages that a reader has read from a log. */
import type { TopicRecord } from '@fantail/contracts'
import type { LogClaim, NewKept } from '@fantail/store'
import { hasRing, keptForm } from '../kept/message-keeping.ts'
import { MessageContext } from '../messages/message-context.ts'
import type { TopicSnapshot } from '../topics/compiled-slice.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { emptyBatch, expiredBatch, type LogBatch, matchEntries } from './log-batch.ts'

export interface LogMatcherOptions {
  snapshots: Pick<SnapshotCache, 'topic' | 'sliceOf' | 'matchSlice'>
  /** Epoch ms by Redis's clock. */
  now(): number
  /** Waits before the next try if the snapshot belongs to another topic of the same name. */
  pause(): Promise<void>
}

export class LogMatcher {
  readonly #options: LogMatcherOptions

  constructor(options: LogMatcherOptions) {
    this.#options = options
  }

  /**
   * Matches by the present snapshot. If there is no such topic, or another one has its name, nothing is moved. The
   * result then shows whether the topic is gone or the snapshot was old. An isolated message, at which readers have
   * died, is not matched once it is too old. `isLost`: whether the reader has lost its lease, so that it needs no
   * answer.
   */
  async match(
    shard: number,
    claim: LogClaim,
    contexts: (MessageContext | Buffer)[],
    isolated: MessageContext | Buffer | undefined,
    isLost: () => boolean,
  ): Promise<LogBatch> {
    const current = await this.#current(claim)
    const expired = current && isolated instanceof MessageContext && this.#expired(current, isolated)
    if (expired) return expired
    const ref = current?.slices.find((slice) => slice.shard === shard)
    const slice = current && ref ? await this.#options.snapshots.sliceOf(current, ref) : null
    const { snapshots } = this.#options
    const batch = await matchEntries(slice, current ? contexts : [], (...asked) =>
      snapshots.matchSlice(...asked, isLost),
    )
    if (current && hasRing(current.topic)) batch.toKeep = keptOf(current.topic, contexts, batch)
    return batch
  }

  /** The batch for a message that cannot be opened. It has the message once that is too old. Undefined: it waits. */
  async matchLocked(claim: LogClaim, context: MessageContext): Promise<LogBatch | undefined> {
    const current = await this.#current(claim)
    return current ? this.#expired(current, context) : emptyBatch()
  }

  /** null: there is no such topic, or another one has its name. */
  async #current({ topicArn, uid }: LogClaim): Promise<TopicSnapshot | null> {
    const snapshot = await this.#options.snapshots.topic(topicArn)
    if (snapshot?.topic.uid === uid) return snapshot
    await this.#options.pause()
    return null
  }

  /** Undefined: the message is not too old. */
  #expired({ topic }: TopicSnapshot, context: MessageContext): LogBatch | undefined {
    if (this.#options.now() - context.message.publishedAt <= topic.retentionSeconds * 1_000) return undefined
    const expired = expiredBatch(topic, context)
    return hasRing(topic) ? { ...expired, toKeep: [keptForm(topic, context)] } : expired
  }
}

/** The messages that the batch moves, in the order of the log. Messages that cannot be decoded are not kept. */
function keptOf(topic: TopicRecord, contexts: (MessageContext | Buffer)[], { move }: LogBatch): NewKept[] {
  const moved = contexts.slice(0, move.messages.length)
  return moved.flatMap((context) => (context instanceof MessageContext ? [keptForm(topic, context)] : []))
}
