/** Packs arguments of the lane scripts, and unpacks their replies. */
import {
  type ClaimedLane,
  type DeadState,
  type RetryState,
  type Standing,
  unpackState,
} from './lane-records.ts'

/** Which wakes a script has published: 0 none, 1 for `due`, 2 for `turns`, 3 both. */
export type Wakes = number

export function packStanding(standing: Standing | undefined): string {
  if (standing === undefined) return ''
  return standing === 'proven' ? '+' : '-'
}

/** A time in ms; '' is none. */
export function readTime(reply: Buffer): number | null {
  return reply.length === 0 ? null : Number(reply.toString())
}

export function readState(reply: Buffer): RetryState | DeadState | null {
  return reply.length === 0 ? null : unpackState(reply.toString())
}

/**
 * Subscription, slice, slice's revision, '1' if the endpoint is proven; then delivery, lease, send time and state of
 * each claim.
 */
export type ClaimedLaneReply = [Buffer, Buffer, Buffer, Buffer, ...Buffer[]]

export function readClaimedLane([id, slice, revision, proven, ...claims]: ClaimedLaneReply): ClaimedLane {
  const lane: ClaimedLane = {
    subscriptionId: id.toString(),
    sliceId: slice.toString(),
    sliceRevision: revision.toString(),
    proven: proven.length > 0,
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
