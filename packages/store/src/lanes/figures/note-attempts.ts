/** Stores the results of attempts, for the figures of their lanes. */
import type { Redis } from 'ioredis'
import { shardBase } from '../../keys/shards.ts'
import { readScript, runScript } from '../../redis/scripts.ts'
import type { AttemptNote } from '../records/lane-records.ts'

const NOTE = readScript('note-attempts-1')
const NONE = -1

export async function noteAttempts(redis: Redis, shard: number, notes: AttemptNote[]): Promise<void> {
  const lanes = notes.map(
    ({ subscriptionId: id, attempts, successes, beganMs, succeededMs, failed, failing }) => ({
      id,
      attempts,
      successes,
      beganMs: Math.round(beganMs),
      successMs: Math.round(succeededMs ?? NONE),
      failureMs: Math.round(failed?.ms ?? NONE),
      code: failed?.statusCode?.toString() ?? '',
      err: failed?.error ?? '',
      inARow: failing?.inARow ?? 0,
      failingMs: Math.round(failing?.ms ?? NONE),
    }),
  )
  await runScript(redis, NOTE, { base: shardBase(shard), lanes })
}
