/** Renewing: unsent claims get new send times. They belong to a late worker, or make another request. */
import type { Redis } from 'ioredis'
import { shardBase } from '../../keys/shards.ts'
import { readScript, runScript, type ScriptValue } from '../../redis/scripts.ts'
import type { LaneRenewal, RenewedClaim, RenewRequest } from '../records/lane-records.ts'
import { readTime } from '../records/lane-replies.ts'

const RENEW = readScript('renew-claims-1')

/** Results by lane and claim, as in the request. Callers bound the number of claims. */
export async function renewClaims(
  redis: Redis,
  shard: number,
  { leaseMs, lanes }: RenewRequest,
): Promise<RenewedClaim[][]> {
  const args = { base: shardBase(shard), leaseMs, values: lanes.flatMap(packLane) }
  const reply = (await runScript(redis, RENEW, args)) as Buffer[]
  const replies = reply.values()
  const next = () => replies.next().value ?? Buffer.alloc(0)
  return lanes.map(({ claims }) => claims.map(() => ({ sendAt: readTime(next()), lease: next().toString() })))
}

function packLane({ subscriptionId, leadMs, claims }: LaneRenewal): ScriptValue[] {
  const packed = claims.flatMap(({ delivery, lease, sendAt }) => [delivery, lease, sendAt ?? ''])
  return [subscriptionId, leadMs, claims.length, ...packed]
}
