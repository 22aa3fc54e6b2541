/** Taking: claims what is due in the lanes of a shard, each claim under a lease, with send times where throttled. */
import type { Redis } from 'ioredis'
import type { DeliveryRef, TakeRequest, TakeResult } from './lane-records.ts'
import { type ClaimedLaneReply, readClaimedLane, readTime } from './lane-replies.ts'
import { readScript, runScript } from './scripts.ts'
import { shardBase } from './shards.ts'

/** No bound but the lane's own. */
const OTHERS_MAX = 1_000_000

const TAKE = readScript('take-deliveries-1')

/** Now, earliest due time, drained, lanes with claims, expired (subscription, delivery) one after the other. */
export type TakeReply = [number, Buffer, number, ClaimedLaneReply[], Buffer[]]

export async function takeDeliveries(redis: Redis, shard: number, request: TakeRequest): Promise<TakeResult> {
  const { lanesMax, deliveriesMax, leaseMs, limits, othersMax = OTHERS_MAX } = request
  const args = [lanesMax, deliveriesMax, leaseMs, othersMax, ...[...limits].flat()]
  return readTaken((await runScript(redis, TAKE, [shardBase(shard)], args)) as TakeReply)
}

export function readTaken([now, due, drained, lanes, expired]: TakeReply): TakeResult {
  return {
    now,
    nextDueAt: readTime(due),
    lanes: lanes.map(readClaimedLane),
    expired: readRefs(expired),
    drained,
  }
}

function readRefs(flat: Buffer[]): DeliveryRef[] {
  const refs: DeliveryRef[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [id, delivery] = flat.slice(i, i + 2) as [Buffer, Buffer]
    refs.push({ subscriptionId: id.toString(), delivery })
  }
  return refs
}
