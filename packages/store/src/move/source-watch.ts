/**
 * Learns of every key of Fantail that changes at the source of a move, whoever changes it and however short the writer
 * is connected. Redis itself reports the keys (CLIENT TRACKING in broadcast mode), so nothing is written to the source.
 *
 *   watching ── a key changes ──▶ watching, the key is remembered
 *      └────── a connection closes, or everything is flushed ──▶ blind, for ever
 *
 * Expired keys are reported like changed ones. The caller compares them.
 */
import type { Redis } from 'ioredis'
import { whenReady } from '../redis/connections/connect.ts'

const CHANNEL = '__redis__:invalidate'
/** @limit memory (`fantail move`) Changed keys of the source that are remembered. Past it: the move fails. */
const CHANGED_KEYS_MAX = 10_000

export interface SourceWatch {
  /** Every key that has changed since the watch began, or undefined if a change may have been missed. */
  changed(): Promise<Buffer[] | undefined>
  close(): void
}

/** Throws what Redis answers if it cannot report changes, for example because a user may not ask for it. */
export async function watchSource(from: Redis, prefix: string): Promise<SourceWatch> {
  // One connection receives the reports, another has asked for them. By RESP3 ioredis would drop the reports.
  const [receiver, asker] = [from.duplicate({ protocol: 2 }), from.duplicate()]
  const keys = new Map<string, Buffer>()
  let isBlind = false
  const goBlind = () => {
    isBlind = true
  }
  receiver.on('messageBuffer', (_: Buffer, reported: unknown) => {
    if (!Array.isArray(reported) || keys.size >= CHANGED_KEYS_MAX) return goBlind()
    for (const key of reported as Buffer[]) keys.set(key.toString('latin1'), key)
  })
  const close = () => {
    for (const connection of [receiver, asker]) connection.disconnect()
  }
  try {
    for (const connection of [receiver, asker]) {
      // Each command reports the error to its caller.
      connection.on('error', () => undefined)
      await whenReady(connection)
      connection.on('close', goBlind)
    }
    const id = await receiver.client('ID')
    await receiver.subscribe(CHANNEL)
    await asker.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', 'PREFIX', prefix)
  } catch (error) {
    close()
    throw error
  }
  const changed = async () => {
    // Redis reports a change at the end of the round in which it answers the writer, perhaps after the first answer.
    for (let round = 0; round < 2 && !isBlind; round++) await Promise.all([receiver.ping(), asker.ping()])
    return isBlind ? undefined : [...keys.values()]
  }
  return { changed, close }
}
