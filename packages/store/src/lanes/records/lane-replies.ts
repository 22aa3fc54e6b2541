/** Packs arguments of the lane scripts, and unpacks their replies. */
import {
  type ClaimedLane,
  type DeadState,
  type RetryState,
  type Standing,
  unpackState,
} from './lane-records.ts'

/** A colon. */
const CREDENTIAL_FOLLOWS = 0x3a
const NOTHING = Buffer.alloc(0)

/** Which wakes a script has published: 0 none, 1 for `due`, 2 for `unproven`, 3 both. */
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
 * Subscription, slice, slice's revision, '1' if the endpoint is proven and behind ':' the credential that blocks the
 * lane; then delivery, lease, send time and state of each claim.
 */
export type ClaimedLaneReply = [Buffer, Buffer, Buffer, Buffer, ...Buffer[]]

export function readClaimedLane([id, slice, revision, how, ...claims]: ClaimedLaneReply): ClaimedLane {
  const lane: ClaimedLane = {
    subscriptionId: id.toString(),
    sliceId: slice.toString(),
    sliceRevision: revision.toString(),
    proven: how.length > 0 && how[0] !== CREDENTIAL_FOLLOWS,
    claims: [],
  }
  const at = how.indexOf(CREDENTIAL_FOLLOWS)
  if (at >= 0) lane.blockedBy = how.toString('utf8', at + 1)
  for (let i = 0; i + 3 < claims.length; i += 4) {
    const part = (offset: number) => claims[i + offset] ?? NOTHING
    lane.claims.push({
      delivery: part(0),
      lease: part(1).toString(),
      sendAt: readTime(part(2)),
      state: readState(part(3)),
    })
  }
  return lane
}
