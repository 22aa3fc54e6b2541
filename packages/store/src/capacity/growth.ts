/**
 * Growth that a caller asks for: a topic, a subscription, a queue, a consumer, a key, a redrive, or a longer record of
 * one. The stores call a guard before they write such growth. Writes that do not grow are never refused
 * (script-classes.ts).
 */

/** Usually the StorageGuard. */
export interface GrowthGuard {
  /** Throws or rejects with `storage_full`; a promise only where something must be awaited. */
  admit(): Promise<void> | undefined
}

/** For processes that make nothing new. */
export const UNGUARDED: GrowthGuard = { admit: () => undefined }

/** Asks the guard where the record's text becomes longer; null stands for a record that does not exist yet. */
export async function admitLonger(guard: GrowthGuard, before: string | null, after: string): Promise<void> {
  if (before !== null && Buffer.byteLength(after) <= Buffer.byteLength(before)) return
  await guard.admit()
}
