/** Hears which live events are wanted. */
import type { Redis } from 'ioredis'
import { WAKE_LISTENERS } from '../keys/keys.ts'
import type { LiveSender } from './live-sender.ts'

/** Subscribes to the announcements of processes with listeners. Returns a function that ends this. */
export function hearListeners(
  subscriber: Pick<Redis, 'on' | 'off' | 'status' | 'subscribe'>,
  live: Pick<LiveSender, 'heard'>,
): () => void {
  const hear = (channel: string, text: string) => {
    if (channel === WAKE_LISTENERS) live.heard(text)
  }
  const subscribe = () => {
    // This fails only if the connection breaks. The next 'ready' then starts it again.
    subscriber.subscribe(WAKE_LISTENERS).catch(() => undefined)
  }
  subscriber.on('message', hear)
  subscriber.on('ready', subscribe)
  if (subscriber.status === 'ready') subscribe()
  return () => {
    subscriber.off('message', hear)
    subscriber.off('ready', subscribe)
  }
}
