/**
 * Taking: claims due deliveries in the lanes of a shard. Each claim has a lease, and in a throttled lane a send time.
 */
import type { Redis } from 'ioredis'
import { shardBase } from '../keys/shards.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import type { ClaimedLane, DeliveryRef, LogClaim, TakeRequest, TakeResult } from './records/lane-records.ts'
import { type ClaimedLaneReply, readClaimedLane, readTime } from './records/lane-replies.ts'

/**
 * Claims of a lane that a take does not name, where the worker sets no bound. The lane's own `maxInFlight` bounds them.
 */
const OTHERS_MAX = 1_000_000

const TAKE = readScript('take-deliveries-1')

/** Now, earliest due time, discarded, lanes with claims, expired. `expired` alternates subscription and delivery. */
export type TakenReply = [number, Buffer, number, ClaimedLaneReply[], Buffer[]]
/** For each head with followers: subscription, head, and followers. */
type TakeReply = [
  ...TakenReply,
  followed: Buffer[][],
  logs: LogReply[],
  unproven: Buffer,
  UnreadableReply,
  Buffer[],
]
/** Name and error of each. */
export type UnreadableReply = [Buffer, Buffer][]
type LogReply = [uid: Buffer, arn: Buffer, fence: number, group: Buffer]

export async function takeDeliveries(redis: Redis, shard: number, request: TakeRequest): Promise<TakeResult> {
  const { lanesMax, deliveriesMax, leaseMs, limits, othersMax = OTHERS_MAX, logsMax = 0 } = request
  const { tripMs = 0, leadMs = 0, bodyBytesMax = 0 } = request
  const { unprovenMax = deliveriesMax, unprovenTill = null } = request
  const unprovenClaims = request.unprovenClaims ? namedClaims(request.unprovenClaims) : ''
  const bounds = {
    lanesMax,
    deliveriesMax,
    leaseMs,
    othersMax,
    logsMax,
    unprovenMax,
    unprovenTill,
    unprovenClaims,
  }
  const laneLimits = Array.from(limits, ([id, claimsMax]) => ({ id, claimsMax }))
  const args = { base: shardBase(shard), ...bounds, tripMs, leadMs, bodyBytesMax, laneLimits }
  const reply = (await runScript(redis, TAKE, args)) as TakeReply
  const [now, due, discarded, lanes, expired, followed, logs, unproven, unreadable, bodies] = reply
  const taken = readTaken([now, due, discarded, lanes, expired])
  addFollowers(taken.lanes, followed)
  return {
    ...taken,
    nextUnprovenAt: readTime(unproven),
    logs: logs.map(readLog),
    unreadable: readUnreadable(unreadable),
    ...(bodies.length > 0 && { bodies: readBodies(bodies) }),
  }
}

function readBodies(flat: Buffer[]): Map<string, Buffer> {
  const bodies = new Map<string, Buffer>()
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [message, body] = flat.slice(i, i + 2) as [Buffer, Buffer]
    bodies.set(message.toString('latin1'), body)
  }
  return bodies
}

function namedClaims(claims: ReadonlyMap<string, number>): string {
  return Array.from(claims, ([id, claimsMax]) => `${id}=${claimsMax}`).join(' ')
}

export function readTaken([now, due, discarded, lanes, expired]: TakenReply): TakeResult {
  return {
    now,
    nextDueAt: readTime(due),
    nextUnprovenAt: null,
    lanes: lanes.map(readClaimedLane),
    expired: readRefs(expired),
    discarded,
    logs: [],
    unreadable: [],
  }
}

export function readUnreadable(unreadable: UnreadableReply): TakeResult['unreadable'] {
  return unreadable.map(([name, error]) => ({ name: String(name), error: String(error) }))
}

function addFollowers(lanes: ClaimedLane[], followed: Buffer[][]): void {
  for (const [id, head, ...followers] of followed) {
    const lane = lanes.find(({ subscriptionId }) => subscriptionId === String(id))
    const claim = head && lane?.claims.find(({ delivery }) => delivery.equals(head))
    if (claim) claim.followers = followers
  }
}

function readLog([uid, arn, fence, group]: LogReply): LogClaim {
  const claim = { uid: String(uid), topicArn: String(arn), fence }
  return group.length > 0 ? { ...claim, group: String(group) } : claim
}

function readRefs(flat: Buffer[]): DeliveryRef[] {
  const refs: DeliveryRef[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [id, delivery] = flat.slice(i, i + 2) as [Buffer, Buffer]
    refs.push({ subscriptionId: id.toString(), delivery })
  }
  return refs
}
