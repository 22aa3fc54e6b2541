/**
 * Wakes say that deliveries of a shard are due, that a topic, queue or credential has changed, or that somebody listens
 * to live events. They must be subscribed to at every new connection.
 */
import {
  type LiveSender,
  type Redis,
  WAKE_CHANGES,
  WAKE_CREDENTIALS,
  WAKE_LANES,
  WAKE_LISTENERS,
  WAKE_MOVED,
} from '@fantail/store'
import type { CredentialGate } from '../attempts/credential-gate.ts'
import type { AttemptSlots } from '../capacity/attempt-slots.ts'
import type { MissingQueues } from '../dead-letters/missing-queues.ts'
import type { LaneLoop } from '../lanes/lane-loop.ts'
import type { SnapshotCache } from '../topics/snapshot-cache.ts'

interface Woken {
  snapshots: SnapshotCache
  laneLoop: LaneLoop
  slots: AttemptSlots
  missing: MissingQueues
  credentials: Pick<CredentialGate, 'works'>
  live: Pick<LiveSender, 'heard'>
}

export function listenForWakes(subscriber: Redis, woken: Woken): void {
  const { snapshots, laneLoop, slots, missing, credentials, live } = woken
  subscriber.on('ready', () => {
    // This fails only if the connection breaks. The next 'ready' then starts it again.
    subscriber
      .subscribe(WAKE_LANES, WAKE_CHANGES, WAKE_MOVED, WAKE_CREDENTIALS, WAKE_LISTENERS)
      .catch(() => undefined)
  })
  subscriber.on('message', (channel: string, text: string) => {
    if (channel === WAKE_CHANGES) {
      snapshots.invalidate(text)
      missing.changed(text)
      return
    }
    if (channel === WAKE_MOVED) return slots.endpointChanged(text)
    if (channel === WAKE_CREDENTIALS) return credentials.works(text)
    if (channel === WAKE_LISTENERS) return live.heard(text)
    if (channel !== WAKE_LANES) return
    const [shard, at, kind] = text.split(':')
    if (at === undefined) return
    if (kind === 'unproven') laneLoop.unprovenAt(Number(shard), Number(at))
    else laneLoop.dueAt(Number(shard), Number(at))
  })
}
