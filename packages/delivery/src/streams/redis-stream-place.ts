/** Reads the URL of a Redis Stream to which records are written: `redis://host:6379/0?stream=orders&maxlen=1000000`. */
import { isRedisStream } from '@fantail/policy'

/** @limit Entries of a Redis Stream, if its URL names no `maxlen`. Past it: Redis drops the oldest ones. */
const STREAM_ENTRIES_DEFAULT = 1_000_000

export interface RedisStreamPlace {
  /** The URL without the settings of the stream. */
  url: string
  /** Key of the stream. */
  stream: string
  entriesMax: number
  /** Name of the place, without a secret. */
  credential: string
}

/** Undefined if the URL names no Redis. */
export function redisStreamOf(url: URL): RedisStreamPlace | undefined {
  if (!isRedisStream(url)) return undefined
  const stream = url.searchParams.get('stream') ?? ''
  const entriesMax = Number(url.searchParams.get('maxlen') ?? STREAM_ENTRIES_DEFAULT)
  const plain = new URL(url)
  plain.search = ''
  return { url: plain.href, stream, entriesMax, credential: `redis:${url.host}/${stream}` }
}
