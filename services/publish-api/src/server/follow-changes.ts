import { type Redis, WAKE_CHANGES } from '@fantail/store'

export type ChangeSubscriber = Pick<Redis, 'on' | 'status' | 'subscribe'>

interface ChangedCache {
  forget(id: string): void
  clear(): void
}

/** Drops what the caches know of what changed, and everything after a gap in the announcements. */
export function followChanges(subscriber: ChangeSubscriber, caches: ChangedCache[]): void {
  subscriber.on('message', (channel: string, text: string) => {
    if (channel === WAKE_CHANGES) for (const cache of caches) cache.forget(text)
  })
  const clear = () => {
    for (const cache of caches) cache.clear()
  }
  const subscribe = () => {
    clear()
    // Records that were cached before Redis took the subscription may have changed without a notice. If this fails, the
    // connection has broken again, and its next start runs this again.
    subscriber.subscribe(WAKE_CHANGES).then(clear, () => undefined)
  }
  subscriber.on('ready', subscribe)
  if (subscriber.status === 'ready') subscribe()
}
