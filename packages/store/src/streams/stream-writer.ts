/**
 * Adds entries to a Redis Stream that the operator has chosen. The writer has its own connection, which opens with the
 * first entries.
 */
import { Redis } from 'ioredis'

interface StreamWriterOptions {
  url: string
  /** Key of the stream. */
  stream: string
  /** The stream keeps about this many entries. Redis drops older ones. */
  entriesMax: number
  timeoutMs: number
}

interface StreamWriter {
  /**
   * Adds the entries, each with the fields `id` and `record`. Returns for each, in order, its id in the stream or the
   * error. Rejects if Redis cannot be reached.
   */
  add(entries: readonly StreamEntry[]): Promise<(string | Error)[]>
  close(): void
}

interface StreamEntry {
  id: string
  record: Buffer
}

export function openStreamWriter({ url, stream, entriesMax, timeoutMs }: StreamWriterOptions): StreamWriter {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
  })
  // The event needs no handling, because each call reports its own failure.
  redis.on('error', () => undefined)
  return {
    async add(entries) {
      const pipeline = redis.pipeline()
      for (const { id, record } of entries) {
        pipeline.xadd(stream, 'MAXLEN', '~', entriesMax, '*', 'id', id, 'record', record)
      }
      const replies = (await pipeline.exec()) ?? []
      return replies.map(([error, entryId]) => error ?? String(entryId))
    },
    close: () => redis.disconnect(),
  }
}
