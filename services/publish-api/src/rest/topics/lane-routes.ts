/** Lanes of all topics, worst first. */
import { isVisible } from '@fantail/access'
import { FantailError, resolveTopic, type VerdictCode } from '@fantail/contracts'
import { LaneList, LaneListQuery } from '@fantail/contracts/schemas/subscriptions/lane-list-schemas'
import { maskCredentials } from '@fantail/delivery'
import { decodeCursor, encodeCursor } from '@fantail/store'
import type { z } from 'zod'
import type { ApiDeps } from '../../deps/api-deps.ts'
import { type Answer, type Call, type Endpoint, endpoint, ok } from '../../http/endpoint.ts'
import { iso, secondsSince } from '../../http/record-views.ts'
import type { Board, JudgedLane } from '../../lanes/lane-board.ts'
import { laneView, verdictView } from '../../lanes/lane-views.ts'
import { byHost, isInNeed, type LanesOfHost, matchesFilter, ranked } from '../../lanes/rank-lanes.ts'

type Query = z.output<typeof LaneListQuery>
type List = z.input<typeof LaneList>
type Row = List['lanes'][number]
type Host = NonNullable<List['hosts']>[number]

export function laneRoutes(deps: ApiDeps): Endpoint[] {
  return [
    endpoint({
      id: 'listLanes',
      method: 'GET',
      path: '/v1/lanes',
      tag: 'Subscriptions',
      summary: 'List the lanes of all topics, worst first',
      description:
        'A lane is what waits for a subscription. The list has the lanes in which something waits or is in flight, those ' +
        'whose latest attempts failed, and those that are pending. All others are fine. Each has a verdict. Lanes are ' +
        'read at most every two seconds, and `at` says when.',
      query: LaneListQuery,
      answers: { 200: { description: 'A page', schema: LaneList } },
      handle: (call) => listLanes(deps, call),
    }),
  ]
}

async function listLanes(deps: ApiDeps, { query, caller }: Call<Query>): Promise<Answer> {
  const start = startOf(query.cursor)
  const board = await deps.laneBoard.read()
  // The answer has sums, so the caller's own lanes are chosen before them.
  const own = board.lanes.filter(({ subscription }) => isVisible(caller, subscription.topicArn))
  const topicArn = query.topic === undefined ? undefined : resolveTopic(query.topic, deps.settings.arn)
  const found = own.filter((lane) => matchesFilter(lane, { ...query, topicArn }))
  const lanes = ranked(found, query.sort, board.at)
  const hosts = query.groupBy === 'host' ? byHost(lanes) : null
  const end = start + query.limit
  const total = hosts ? hosts.length : lanes.length
  const list: List = {
    lanes: hosts ? [] : await rowsOf(deps, board, lanes.slice(start, end)),
    hosts: hosts?.slice(start, end).map((host) => hostView(host, board.at)) ?? null,
    nextCursor: end < total ? encodeCursor([String(end)]) : null,
    at: iso(board.at),
    complete: board.isComplete,
    looked: own.length,
    matched: lanes.length,
    verdicts: countVerdicts(own),
    ...sums(lanes),
  }
  return ok(list)
}

/** Cursors are positions, because lanes change their order all the time. */
function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [text = ''] = decodeCursor(cursor, 1)
  if (!/^\d{1,9}$/.test(text)) throw FantailError.invalid('cursor', 'is not one that this list answered')
  return Number(text)
}

/** Rows of these lanes, without subscriptions that were deleted a moment ago. */
export async function rowsOf(deps: ApiDeps, board: Board, lanes: JudgedLane[]): Promise<Row[]> {
  const rows = await Promise.all(lanes.map((lane) => rowOf(deps, board, lane)))
  return rows.filter((row) => row !== undefined)
}

/** undefined: the subscription was deleted a moment ago. */
async function rowOf(deps: ApiDeps, board: Board, lane: JudgedLane): Promise<Row | undefined> {
  const { subscription, figures } = lane
  const { id, topicArn, endpoint, protocol, name, status } = subscription
  const made = board.rows.get(id)
  if (made) return made as Row
  const [record, topic] = await Promise.all([deps.subscriptions.get(id), deps.topicCache.find(topicArn)])
  if (!record || !topic) return undefined
  const row: Row = {
    subscriptionId: id,
    topicArn,
    endpoint: maskCredentials(endpoint),
    protocol,
    name: name ?? null,
    status,
    lane: laneView(record, { figures, topic: topic.record, now: board.at }),
    verdict: verdictView(lane.verdict),
  }
  board.rows.set(id, row)
  return row
}

function hostView({ host, lanes }: LanesOfHost, now: number): Host {
  const oldest = lanes.flatMap(({ figures }) => figures.oldestPublishedAt ?? [])
  const [worst] = lanes
  return {
    host,
    lanes: lanes.length,
    inNeed: lanes.filter(isInNeed).length,
    ...sums(lanes),
    oldestWaitingSeconds: oldest.length === 0 ? null : secondsSince(Math.min(...oldest), now),
    subscriptionId: worst.subscription.id,
    verdict: verdictView(worst.verdict),
  }
}

export function sums(lanes: JudgedLane[]): { waiting: number; inFlight: number } {
  let waiting = 0
  let inFlight = 0
  for (const { figures } of lanes) {
    waiting += figures.waiting
    inFlight += figures.inFlight
  }
  return { waiting, inFlight }
}

export function countVerdicts(lanes: JudgedLane[]): Partial<Record<VerdictCode, number>> {
  const counts: Partial<Record<VerdictCode, number>> = {}
  for (const { verdict } of lanes) counts[verdict.code] = (counts[verdict.code] ?? 0) + 1
  return counts
}
