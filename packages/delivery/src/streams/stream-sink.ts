/** Where the records of a stream go. */
import type { AttemptResult } from '@fantail/contracts'

export interface StreamRecord {
  data: Buffer
  /** Names the delivery; the same for every attempt. */
  id: string
  /** Epoch ms. */
  publishedAt: number
}

/** The result of each record, in their order. */
export type PutResults = AttemptResult[]

export interface StreamSink {
  /** Names the credentials or the place that `misconfigured` results are about, without a secret. */
  readonly credential: string
  /** Bounds of one batch, and of each record in it. */
  readonly recordsMax: number
  readonly bytesMax: number
  readonly recordBytesMax: number
  /** How long the first record of a batch waits for others. */
  readonly lingerMs: number
  /** Never rejects, and resolves within the time given. Records that it reports as delivered are stored. */
  put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults>
}
