/** Reading what the lane scripts return. */
import { type ClaimedLane, type DeadState, type RetryState, unpackState } from './lane-records.ts'

/** A time in ms; '' is none. */
export function readTime(reply: Buffer): number | null {
  return reply.length === 0 ? null : Number(reply.toString())
}

export function readState(reply: Buffer): RetryState | DeadState | null {
  return reply.length === 0 ? null : unpackState(reply.toString())
}

/** Subscription, slice, slice's revision, then delivery, lease, send time and state of each claim. */
export type ClaimedLaneReply = [Buffer, Buffer, Buffer, ...Buffer[]]

export function readClaimedLane([id, slice, revision, ...claims]: ClaimedLaneReply): ClaimedLane {
  const lane: ClaimedLane = {
    subscriptionId: id.toString(),
    sliceId: slice.toString(),
    sliceRevision: revision.toString(),
    claims: [],
  }
  for (let i = 0; i + 3 < claims.length; i += 4) {
    const [delivery, lease, sendAt, state] = claims.slice(i, i + 4) as [Buffer, Buffer, Buffer, Buffer]
    lane.claims.push({
      delivery,
      lease: lease.toString(),
      sendAt: readTime(sendAt),
      state: readState(state),
    })
  }
  return lane
}
