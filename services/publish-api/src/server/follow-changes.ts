import { type Redis, WAKE_CHANGES } from '@fantail/store'

export type ChangeSubscriber = Pick<Redis, 'on' | 'status' | 'subscribe'>

interface ChangedCache {
  forget(id: string): void
  clear(): void
}

/** Removes announced changes from the caches. After a gap in the announcements, everything is removed. */
export function followChanges(subscriber: ChangeSubscriber, caches: ChangedCache[]): void {
  subscriber.on('message', (channel: string, text: string) => {
    if (channel === WAKE_CHANGES) for (const cache of caches) cache.forget(text)
  })
  const clear = () => {
    for (const cache of caches) cache.clear()
  }
  const subscribe = () => {
    clear()
    // Records that were cached before Redis confirmed the subscription may have changed without a notice. If this
    // fails, the connection has broken again, and its next start runs this again.
    subscriber.subscribe(WAKE_CHANGES).then(clear, () => undefined)
  }
  subscriber.on('ready', subscribe)
  if (subscriber.status === 'ready') subscribe()
}
