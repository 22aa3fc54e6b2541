/**
 * Makes the object of a batch of records: compressed lines, with a name that only the same batch has. If a batch is
 * written again, it overwrites its own object and no other one. The id of the first delivery is not enough as a name. A
 * later batch may begin with the same delivery but contain other records.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { StreamRecord } from './stream-sink.ts'

const BATCH_DIGEST_CHARS = 12

/** `2026/11/22/10/orders-<id>-<digest>.ndjson.gz`, with the time at which the first message was published. */
export function objectName(streamName: string, records: readonly StreamRecord[]): string {
  const [first] = records
  const hour = new Date(first?.publishedAt ?? 0).toISOString().slice(0, 13).replace(/[-T]/g, '/')
  const ids = records.map(({ id }) => id).join(' ')
  const digest = createHash('sha256').update(ids).digest('hex').slice(0, BATCH_DIGEST_CHARS)
  return `${hour}/${streamName}-${first?.id}-${digest}.ndjson.gz`
}

const compress = promisify(gzip)

export function objectBody(records: readonly StreamRecord[]): Promise<Buffer> {
  return compress(Buffer.concat(records.map(({ data }) => data)))
}
