/** Matches messages that a reader has read from a log. Meanwhile it renews the reader's lease. */
import type { TopicRecord } from '@fantail/contracts'
import type { FifoReading, LogClaim, NewKept } from '@fantail/store'
import { keptForm } from '../kept/message-keeping.ts'
import type { TopicSnapshot } from '../topics/compiled-slice.ts'
import { MessageContext } from '../topics/message-context.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'
import { expiredBatch, type LogBatch, matchEntries } from './log-batch.ts'

/** A lease lasts three times as long. */
const RENEW_MS = 1_000

export interface LogMatcherOptions {
  reading: Pick<FifoReading, 'read'>
  snapshots: Pick<SnapshotCache, 'topic' | 'sliceOf' | 'matchSlice'>
  /** Epoch ms by Redis's clock. */
  now(): number
  /** Called when a lease could not be renewed. */
  onDown(error: unknown): void
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
   * died, is not matched once it is too old.
   */
  async match(
    shard: number,
    claim: LogClaim,
    contexts: (MessageContext | Buffer)[],
    isolated: MessageContext | Buffer | undefined,
  ): Promise<LogBatch> {
    const { topicArn, uid } = claim
    const snapshot = await this.#options.snapshots.topic(topicArn)
    const current = snapshot?.topic.uid === uid ? snapshot : null
    if (!current) await this.#options.pause()
    if (current && isolated instanceof MessageContext && this.#isTooOld(current, isolated))
      return expiredBatch(current.topic, isolated)
    const ref = current?.slices.find((slice) => slice.shard === shard)
    const slice = current && ref ? await this.#options.snapshots.sliceOf(current, ref) : null
    const lease = this.#keepLease(shard, claim)
    try {
      const { snapshots } = this.#options
      const batch = await matchEntries(slice, current ? contexts : [], (...asked) =>
        snapshots.matchSlice(...asked, lease.isLost),
      )
      if (current?.topic.keepMessages) batch.toKeep = keptOf(current.topic, contexts, batch)
      return batch
    } finally {
      lease.letGo()
    }
  }

  #isTooOld({ topic }: TopicSnapshot, { message }: MessageContext): boolean {
    return this.#options.now() - message.publishedAt > topic.retentionSeconds * 1_000
  }

  /**
   * Costly filters may take longer than the lease lasts, so the lease is renewed by reads. If that fails, the next move
   * reports the failure.
   */
  #keepLease(shard: number, claim: LogClaim): { isLost(): boolean; letGo(): void } {
    let isLost = false
    const timer = setInterval(() => {
      this.#options.reading.read(shard, claim).then(
        ({ kind }) => {
          if (kind !== 'moved') isLost = true
        },
        (error: unknown) => this.#options.onDown(error),
      )
    }, RENEW_MS)
    return { isLost: () => isLost, letGo: () => clearInterval(timer) }
  }
}

/** The messages that the batch moves, in the order of the log. Messages that cannot be decoded are not kept. */
function keptOf(topic: TopicRecord, contexts: (MessageContext | Buffer)[], { move }: LogBatch): NewKept[] {
  const moved = contexts.slice(0, move.messages.length)
  return moved.flatMap((context) => (context instanceof MessageContext ? [keptForm(topic, context)] : []))
}
