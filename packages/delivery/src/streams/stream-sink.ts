/** A place to which the records of a stream are written. */
import type { AttemptResult } from '@fantail/contracts'

export interface StreamRecord {
  data: Buffer
  /** The id of the delivery, which is the same in every attempt. */
  id: string
  /** Epoch ms. */
  publishedAt: number
}

/** The result of each record, in the records' order. */
export type PutResults = AttemptResult[]

export interface StreamSink {
  /** Host or folder. If a provider hangs, all its streams hang. */
  readonly provider: string
  /** Name of the credentials or the place, for `misconfigured` results, without a secret. */
  readonly credential: string
  /** Limits of one batch, and of each record in it. */
  readonly recordsMax: number
  readonly bytesMax: number
  readonly recordBytesMax: number
  /** How long the first record of a batch waits for others. */
  readonly lingerMs: number
  /** Never rejects, and resolves within `timeoutMs`. Records with the result "delivered" are stored. */
  put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults>
  /** Closes the connections that the sink opened itself. */
  close?(): void
}
