/** Chooses the lanes that a list shows, sorts them, and groups them by host. */
import { nameOfArn, type SubscriptionRecord, VERDICTS_IN_NEED, type VerdictCode } from '@fantail/contracts'
import { maskCredentials } from '@fantail/delivery'
import { domainOfAddress } from '@fantail/policy'
import type { JudgedLane } from './lane-board.ts'

interface LaneFilter {
  state?: VerdictCode | 'inNeed' | undefined
  topicArn?: string | undefined
  topicPrefix?: string | undefined
  host?: string | undefined
  q?: string | undefined
}

type LaneSort = 'worst' | 'oldest' | 'waiting'

export function isInNeed({ verdict }: Pick<JudgedLane, 'verdict'>): boolean {
  return VERDICTS_IN_NEED.has(verdict.code)
}

export function matchesFilter(
  lane: JudgedLane,
  { state, topicArn, topicPrefix, host, q }: LaneFilter,
): boolean {
  const { subscription, verdict } = lane
  if (topicArn !== undefined && subscription.topicArn !== topicArn) return false
  if (topicPrefix !== undefined && !nameOfArn(subscription.topicArn).startsWith(topicPrefix)) return false
  if (host !== undefined && !isAt([host], subscription)) return false
  if (state === 'inNeed' ? !isInNeed(lane) : state !== undefined && verdict.code !== state) return false
  return q === undefined || matchesText(subscription, q)
}

/** Whether id, name, topic or endpoint contains the text, in any case. */
export function matchesText(
  { id, name, topicArn, endpoint }: Pick<SubscriptionRecord, 'id' | 'name' | 'topicArn' | 'endpoint'>,
  q: string,
): boolean {
  const texts = [id, name ?? '', nameOfArn(topicArn), maskCredentials(endpoint)]
  return texts.some((text) => text.toLowerCase().includes(q.toLowerCase()))
}

/** Lanes that somebody has stopped on purpose come after lanes in trouble. */
const TIERS: Partial<Record<VerdictCode, number>> = {
  paused: 1,
  pending: 1,
  throttled: 2,
  catchingUp: 2,
  fine: 3,
}

/** The worst first. */
export function ranked(lanes: JudgedLane[], sort: LaneSort, now: number): JudgedLane[] {
  const keyed = lanes.map((lane) => ({ lane, keys: KEYS[sort](lane, now), id: lane.subscription.id }))
  keyed.sort((a, b) => a.keys[0] - b.keys[0] || a.keys[1] - b.keys[1] || (a.id < b.id ? -1 : 1))
  return keyed.map(({ lane }) => lane)
}

/** The lower ones come first. */
const KEYS: Record<LaneSort, (lane: JudgedLane, now: number) => [number, number]> = {
  worst: (lane, now) => [TIERS[lane.verdict.code] ?? 0, -weight(lane, now)],
  oldest: ({ figures }) => [figures.oldestPublishedAt ?? Number.MAX_SAFE_INTEGER, -figures.waiting],
  waiting: ({ figures }) => [-figures.waiting, figures.oldestPublishedAt ?? Number.MAX_SAFE_INTEGER],
}

/** Age times deliveries. */
function weight({ figures, verdict }: JudgedLane, now: number): number {
  const { waiting, inFlight, oldestPublishedAt } = figures
  return (now - (oldestPublishedAt ?? verdict.since ?? now)) * (waiting + inFlight + 1)
}

export interface LanesOfHost {
  host: string
  /** The worst first. */
  lanes: [JudgedLane, ...JudgedLane[]]
}

/** Hosts in the order of their first lanes. */
export function byHost(lanes: JudgedLane[]): LanesOfHost[] {
  return grouped(lanes, ({ subscription }) => hostOf(subscription))
}

/** Lanes of one host with the same verdict are one problem. The worst problem, and its worst lane, come first. */
export function byProblem(lanes: JudgedLane[], now: number): LanesOfHost[] {
  const keyOf = ({ subscription, verdict }: JudgedLane) => `${verdict.code} ${hostOf(subscription)}`
  const keyed = grouped(ranked(lanes, 'worst', now), keyOf).map((problem) => {
    const total = problem.lanes.reduce((sum, lane) => sum + weight(lane, now), 0)
    return { problem, tier: TIERS[problem.lanes[0].verdict.code] ?? 0, total }
  })
  keyed.sort((a, b) => a.tier - b.tier || b.total - a.total)
  return keyed.map(({ problem }) => problem)
}

function grouped(lanes: JudgedLane[], keyOf: (lane: JudgedLane) => string): LanesOfHost[] {
  return [...Map.groupBy(lanes, keyOf).values()].flatMap(([first, ...others]) =>
    first ? [{ host: hostOf(first.subscription), lanes: [first, ...others] }] : [],
  )
}

type Addressed = Pick<SubscriptionRecord, 'endpoint' | 'protocol'>

/** Whether the endpoint is at one of the hosts, which are in lower case. A host without a port has all its ports. */
export function isAt(hosts: readonly string[], record: Addressed): boolean {
  return hostForms(record).some((form) => hosts.includes(form))
}

/** The ways to write the host, in lower case. The default port is not part of a URL's host. */
function hostForms(record: Addressed): string[] {
  const url = URL.parse(record.endpoint)
  if (!url?.host) return [hostOf(record).toLowerCase()]
  const { host, hostname, port, protocol } = url
  return [host, port === '' ? `${hostname}:${protocol === 'https:' ? 443 : 80}` : hostname]
}

/** Host of an endpoint, the domain of a mail address, or else the protocol. */
export function hostOf({ endpoint, protocol }: Addressed): string {
  const host = URL.parse(endpoint)?.host
  if (host) return host
  return endpoint.includes('@') ? domainOfAddress(endpoint) : protocol
}
