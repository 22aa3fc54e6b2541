import type { SliceRef } from '../topics/snapshots.ts'

/** A status code and the slots that answered it. */
export type CodeSlots = readonly [statusCode: number, slots: Buffer]

/** Dispatch's entry for one message in one slice. `slice` null: nothing matched in the whole topic. */
export interface DispatchEntry {
  messageId: string
  /** Its 16 bytes, where they are at hand. */
  id?: Buffer
  topicArn: string
  sizeBytes: number
  slice: SliceRef | null
  delivered: Buffer
  /** Answers of those delivered, other than 200; absent: the answers are not known (older releases). */
  otherCodes?: CodeSlots[]
  parked: Buffer
  /** Which parked deliveries belong to a paused subscription; absent: none. */
  paused?: Buffer
  filtered: Buffer
  failures: [slot: number, statusCode: number | null, error: string | null][]
  /** When the log stored it, in epoch ms by Redis's clock; only of entries that were read. */
  storedAt?: number
}
