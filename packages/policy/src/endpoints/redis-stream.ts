/** URLs of Redis Streams, as operators write them: `redis://host:6379/0?stream=orders&maxlen=1000000`. */

/** @limit Entries that the URL of a Redis Stream may ask for (`maxlen`). Past it: the setting is refused. */
const STREAM_ENTRIES_MAX = 1_000_000_000

export function isRedisStream({ protocol, host, searchParams }: URL): boolean {
  const length = searchParams.get('maxlen')
  const isLength = length === null || (/^[1-9]\d*$/.test(length) && Number(length) <= STREAM_ENTRIES_MAX)
  return isRedis(protocol) && host !== '' && isLength && (searchParams.get('stream') ?? '') !== ''
}

/** Whether the URL says that the Redis may be the one that holds Fantail's own data. */
export function allowsOwnRedis({ searchParams }: URL): boolean {
  return searchParams.get('own') === 'true'
}

function isRedis(protocol: string): boolean {
  return protocol === 'redis:' || protocol === 'rediss:'
}
