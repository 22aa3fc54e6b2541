/**
 * Growth: a caller adds a topic, a subscription, a queue, a consumer, a key or a redrive, or makes the record of one
 * longer. The stores call a guard before such a write. Writes that do not grow are never refused (script-classes.ts).
 */

/** Usually the StorageGuard. */
export interface GrowthGuard {
  /** Throws or rejects with `storage_full`. It returns a promise only if it must await something. */
  admit(): Promise<void> | undefined
}

/** The guard of processes that never create anything. */
export const UNGUARDED: GrowthGuard = { admit: () => undefined }

/** Things that callers create and quotas bound. */
export type CreatedMember = 'topics' | 'subscriptions'

/** Usually Quotas. */
export interface CreationGate {
  /**
   * Calls `create` if the quotas of the topic have room. `validUntil`: when the creation is too late, by the clock of
   * the topic's shard; null: it has no quota. Throws or rejects with `quota_exceeded`.
   */
  within<T>(
    topicArn: string,
    member: CreatedMember,
    create: (validUntil: number | null) => Promise<T>,
  ): Promise<T>
}

/** The gate of processes that never create anything. */
export const NO_QUOTAS: CreationGate = { within: (_topicArn, _member, create) => create(null) }

/** Calls the guard if the record's text becomes longer. null: the record does not exist yet. */
export async function admitLonger(guard: GrowthGuard, before: string | null, after: string): Promise<void> {
  if (before !== null && Buffer.byteLength(after) <= Buffer.byteLength(before)) return
  await guard.admit()
}
