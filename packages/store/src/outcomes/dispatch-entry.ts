import type { SliceMoment } from '../topics/snapshots.ts'

/** A status code, and the bits whose deliveries got it. */
export type CodeBits = readonly [statusCode: number, bits: Buffer]

/**
 * The entry of dispatch for one message in one slice, as the slice was when the message was matched. If `slice` is
 * null, nothing matched in the whole topic.
 */
export interface DispatchEntry {
  messageId: string
  /** The 16 bytes of the message id, if the caller has them. */
  id?: Buffer
  topicArn: string
  /** The target of a direct message. Messages of topics have none. */
  target?: string
  sizeBytes: number
  slice: SliceMoment | null
  delivered: Buffer
  /** Status codes other than 200 of delivered bits. */
  otherCodes: CodeBits[]
  parked: Buffer
  /** Which parked deliveries belong to a paused subscription. Absent: none. */
  paused?: Buffer
  filtered: Buffer
  failures: [bit: number, statusCode: number | null, error: string | null][]
  /** When the log stored the entry, epoch ms by Redis's clock. Set only in entries that were read. */
  storedAt?: number
}
