/**
 * Adds records to a Redis Stream, as entries with the fields `id` (the delivery) and `record`. The operator has chosen
 * this Redis, so a refusal means that the settings are wrong. It does not count against a message. The settings of this
 * Redis decide how durable an entry is.
 */
import type { AttemptResult } from '@fantail/contracts'
import { failure } from '../http/attempt-failure.ts'
import type { RedisStreamPlace } from './stream-places.ts'
import type { PutResults, StreamRecord, StreamSink } from './stream-sink.ts'

/** Records of one batch to a Redis Stream. Past it: they go into another batch. */
const ENTRIES_AT_ONCE_MAX = 500
/** Bytes of one batch to a Redis Stream. Past it: the records go into another batch. */
const ENTRY_BYTES_AT_ONCE_MAX = 4_194_304
/** Time that the first record for a Redis Stream waits for others. After it: the records are added. */
const ENTRIES_LINGER_MS = 20
/** Errors that are temporary: the Redis is out of memory, loads its data, or is not the master now. */
const TEMPORARY =
  /^(OOM|LOADING|BUSY|READONLY|MASTERDOWN|MISCONF|TRYAGAIN|CLUSTERDOWN|UNBLOCKED|NOREPLICAS)\b/
/** The status of an added record, in logs and metrics. */
const ADDED = 200

/** The connection (packages/store/src/streams). */
interface StreamWriter {
  add(entries: readonly { id: string; record: Buffer }[]): Promise<(string | Error)[]>
  close(): void
}

export type OpenStreamWriter = (
  place: Pick<RedisStreamPlace, 'url' | 'stream' | 'entriesMax'> & { timeoutMs: number },
) => StreamWriter

export class RedisSink implements StreamSink {
  readonly recordsMax = ENTRIES_AT_ONCE_MAX
  readonly bytesMax = ENTRY_BYTES_AT_ONCE_MAX
  readonly recordBytesMax = ENTRY_BYTES_AT_ONCE_MAX
  readonly lingerMs = ENTRIES_LINGER_MS
  readonly credential: string
  readonly provider: string
  readonly #writer: StreamWriter

  constructor({ url, credential }: Pick<RedisStreamPlace, 'url' | 'credential'>, writer: StreamWriter) {
    this.credential = credential
    this.provider = `redis:${new URL(url).host}`
    this.#writer = writer
  }

  async put(records: readonly StreamRecord[], timeoutMs: number): Promise<PutResults> {
    const startedAt = performance.now()
    const durationMs = () => performance.now() - startedAt
    const late = Promise.withResolvers<'late'>()
    // Node runs due timers before it reads sockets, and the answer may have come while the process stood still.
    const timer = setTimeout(() => setImmediate(late.resolve, 'late'), timeoutMs)
    const entries = records.map(({ id, data }) => ({ id, record: data.subarray(0, lengthOf(data)) }))
    const adding = this.#writer.add(entries).catch((error: Error) => entries.map(() => error))
    const added = await Promise.race([adding, late.promise])
    clearTimeout(timer)
    if (added === 'late') {
      return records.map(() => failure('timeout', `no answer within ${timeoutMs} ms`, durationMs()))
    }
    return records.map((_, i) => {
      const entryId = added[i] ?? new Error('no reply')
      if (entryId instanceof Error) return this.#refusal(entryId, durationMs())
      const text = JSON.stringify({ entryId })
      return { kind: 'response', statusCode: ADDED, durationMs: durationMs(), text }
    })
  }

  close(): void {
    this.#writer.close()
  }

  #refusal(error: Error, durationMs: number): AttemptResult {
    const { message } = error
    if (error.name !== 'ReplyError') return failure('connection_failed', message, durationMs)
    if (TEMPORARY.test(message)) return failure('storage', message, durationMs)
    const detail = `Redis answered: ${message}`
    return { kind: 'misconfigured', credential: this.credential, detail, durationMs }
  }
}

/** The length of a record without the line feed that separates records in files. */
function lengthOf(data: Buffer): number {
  return data.at(-1) === 0x0a ? data.length - 1 : data.length
}
