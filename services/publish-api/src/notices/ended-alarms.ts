/**
 * Decides which open alarms have ended. A lane may leave the board although its endpoint still fails, because nothing
 * was sent to it for a day. So the lane itself is read, and an alarm of an endpoint ends when deliveries arrive again,
 * or when somebody has paused or deleted the subscription. Only the first is reported.
 */
import { type NamedAlarm, placeOfSubscription, sideBySide, verdictOf } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'
import type { JudgedLane } from '../lanes/lane-board.ts'

/** Subscriptions that are read at a time. Past it: the others follow. */
const LANES_READ_AT_ONCE = 8

type Tools = Pick<ApiDeps, 'subscriptions' | 'lanes' | 'laneBoard'>

/** `lasts`: the alarm stays open. `reported`: it ended, and notices say so. `dropped`: it ended without a notice. */
type End = 'lasts' | 'reported' | 'dropped'

interface EndedAlarm {
  name: string
  type: string
  host: string
  topicArn: string
  /** Absent: the server's alarm. */
  lane?: JudgedLane
}

interface Judging {
  /** Epoch ms. */
  now: number
  lanes: ReadonlyMap<string, JudgedLane>
  isWell(lane: JudgedLane): boolean
  isSilent(topicArn: string): boolean
}

interface Ended {
  reported: EndedAlarm[]
  dropped: string[]
}

/** `absent`: open alarms that this round has not found. */
export async function endedAlarms(tools: Tools, absent: NamedAlarm[], judging: Judging): Promise<Ended> {
  const ids = [...new Set(absent.map(([name]) => subscriptionOf(name)).filter((id) => id !== ''))]
  const lanes = await readLanes(tools, ids, judging)
  const ended: Ended = { reported: [], dropped: [] }
  for (const [name, place] of absent) {
    const id = subscriptionOf(name)
    const type = name.split(' ', 1)[0] ?? ''
    const lane = lanes.get(id)
    const end = id === '' ? 'reported' : endOf(type, lane, judging)
    if (end === 'reported') ended.reported.push({ name, type, ...place, ...(lane && { lane }) })
    if (end === 'dropped') ended.dropped.push(name)
  }
  return ended
}

function subscriptionOf(name: string): string {
  return name.split(' ', 2)[1] ?? ''
}

function endOf(type: string, lane: JudgedLane | undefined, { isWell, isSilent }: Judging): End {
  if (!lane || isSilent(lane.subscription.topicArn)) return 'dropped'
  const { status, pausedBecause } = lane.subscription
  if (type === 'endpoint.gone') return pausedBecause === 'gone' ? 'lasts' : 'dropped'
  if (type === 'endpoint.disabled') return pausedBecause === 'failing' ? 'lasts' : 'dropped'
  if (status !== 'active') return 'dropped'
  return isWell(lane) ? 'reported' : 'lasts'
}

async function readLanes({ subscriptions, lanes, laneBoard }: Tools, ids: string[], judging: Judging) {
  const known = new Map(ids.flatMap((id) => entryOf(id, judging.lanes.get(id))))
  const records = await sideBySide(
    ids.filter((id) => !known.has(id)),
    LANES_READ_AT_ONCE,
    (id) => subscriptions.getReadable(id),
  )
  const found = records.flatMap((record) => (record && !record.unsubscribed ? [record] : []))
  const places = found.map(({ id }) => ({ subscriptionId: id, shard: placeOfSubscription(id)?.shard ?? 0 }))
  const figures = await lanes.figures(places)
  for (const [i, subscription] of found.entries()) {
    const own = figures[i]
    if (!own) continue
    const judged = {
      subscription,
      figures: own,
      now: judging.now,
      attemptTimeoutMs: laneBoard.attemptTimeoutMs,
    }
    known.set(subscription.id, { subscription, figures: own, verdict: verdictOf(judged) })
  }
  return known
}

function entryOf(id: string, lane: JudgedLane | undefined): [string, JudgedLane][] {
  return lane ? [[id, lane]] : []
}
