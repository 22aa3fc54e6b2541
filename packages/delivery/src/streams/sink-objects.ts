/**
 * The objects in which sinks store records. An object has the compressed lines of a batch, and a name that only this
 * batch has. If the batch is written again, it overwrites its own object and no other one. The id of the first delivery
 * is not enough as a name. A later batch may begin with the same delivery but contain other records.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { StreamRecord } from './stream-sink.ts'

/** @limit Records of one object of a stream. Past it: they go into another object. */
export const OBJECT_RECORDS_MAX = 2_000
/** @limit Bytes of one object of a stream, before compression. Past it: the records go into another object. */
export const OBJECT_BYTES_MAX = 5_242_880
/**
 * Time that the first record of an object waits for others, if the stream's URL names none. After it: the object
 * is written.
 */
const OBJECT_LINGER_MS_DEFAULT = 1_000
/** @limit Time that the URL of a stream's objects may let records wait (`seconds`). Past it: the time is cut. */
const OBJECT_LINGER_MS_MAX = 300_000

/** By the operator's URL: `?seconds=60`. */
export function objectLingerMs({ searchParams }: Pick<URL, 'searchParams'>): number {
  const seconds = searchParams.get('seconds')
  if (seconds === null || !/^\d+(\.\d+)?$/.test(seconds)) return OBJECT_LINGER_MS_DEFAULT
  return Math.min(1_000 * Number(seconds), OBJECT_LINGER_MS_MAX)
}

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
