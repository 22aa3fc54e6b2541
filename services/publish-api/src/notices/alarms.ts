/**
 * Alarms: what begins, lasts and ends. They are found in the verdicts and figures of lanes, and in the state of Redis.
 * A lane has one alarm at a time.
 */
import type { VerdictCode } from '@fantail/contracts'
import type { NoticeType } from '@fantail/contracts/schemas/overview/notice-schemas'
import { type AlarmPlace, drainOf, type MemorySample } from '@fantail/store'
import type { JudgedLane } from '../lanes/lane-board.ts'
import { hostOf } from '../lanes/rank-lanes.ts'

/** Share of Redis's memory from which `server.memory` is reported. Publishing, also of notices, stops at 75 %. */
const MEMORY_REPORTED_FROM = 0.65
/** Below this share the alarm ends. The distance keeps it from coming and going. */
const MEMORY_CALM_BELOW = 0.6
/** Time that waiting deliveries may need. Past it: `endpoint.behind`. */
const DRAIN_SECONDS_MAX = 3_600
/** Below this time the alarm ends. */
const DRAIN_CALM_SECONDS = 1_800

/** Verdicts with which no delivery arrives. */
const BROKEN: ReadonlySet<VerdictCode> = new Set([
  'failing',
  'hung',
  'groupBlocked',
  'misconfigured',
  'noToken',
  'dlqMissing',
  'endpointDisabled',
  'queueMissing',
  'queueRefuses',
])

export interface Alarm extends AlarmPlace {
  type: NoticeType
  /** Only an endpoint's alarm has it. */
  lane?: JudgedLane
  /** Epoch ms; null: unknown. */
  since: number | null
  /** The sentence of the server's alarm. */
  text?: string
}

/** Alarms by name (open-alarms.ts). */
export type Alarms = Map<string, Alarm>

interface LaneRules {
  /** Epoch ms. */
  now: number
  /** An endpoint must fail for this long. */
  failingMs: number
  isOpen(name: string): boolean
}

export function laneAlarms(lanes: Iterable<JudgedLane>, rules: LaneRules): Alarms {
  const alarms: Alarms = new Map()
  for (const lane of lanes) {
    const found = laneAlarm(lane, rules)
    if (!found) continue
    const { topicArn, id } = lane.subscription
    alarms.set(`${found.type} ${id}`, { ...found, lane, topicArn, host: hostOf(lane.subscription) })
  }
  return alarms
}

type Found = Pick<Alarm, 'type' | 'since'>

function laneAlarm(lane: JudgedLane, rules: LaneRules): Found | undefined {
  const { subscription, verdict, figures } = lane
  if (subscription.status === 'paused') return pausedAlarm(lane)
  if (verdict.code === 'circuitOpen') return { type: 'endpoint.circuitOpen', since: verdict.since }
  const since = brokenSince(lane)
  if (since !== null && rules.now - since >= rules.failingMs) return { type: 'endpoint.failing', since }
  const isBehind = rules.isOpen(`endpoint.behind ${subscription.id}`)
  const seconds = drainOf(figures, { paused: false, now: rules.now }).seconds ?? 0
  if (seconds < (isBehind ? DRAIN_CALM_SECONDS : DRAIN_SECONDS_MAX)) return undefined
  return { type: 'endpoint.behind', since: figures.oldestPublishedAt }
}

function pausedAlarm({ subscription: { pausedBecause }, verdict }: JudgedLane): Found | undefined {
  if (pausedBecause === 'gone') return { type: 'endpoint.gone', since: verdict.since }
  return pausedBecause === 'failing' ? { type: 'endpoint.disabled', since: verdict.since } : undefined
}

/** Entries in the quarantine hide from the verdict that the lane fails too. */
function brokenSince({ verdict, figures }: JudgedLane): number | null {
  if (verdict.code === 'quarantined') return figures.failing?.since ?? null
  return BROKEN.has(verdict.code) ? (verdict.since ?? figures.oldestPublishedAt) : null
}

/** Whether deliveries arrive: nothing of what an alarm tells is left. */
export function isWell(lane: JudgedLane, rules: LaneRules): boolean {
  const { failing, isBlocked, lacksKey, circuitOpenUntil } = lane.figures
  if (failing !== null || isBlocked || lacksKey || circuitOpenUntil !== null) return false
  return lane.subscription.status === 'active' && laneAlarm(lane, rules) === undefined
}

interface Server {
  memory: MemorySample
  risks: readonly string[]
  failedWrites: readonly string[]
}

export function serverAlarms({ memory, risks, failedWrites }: Server, { isOpen }: LaneRules): Alarms {
  const place = { host: '', topicArn: '', since: null }
  const alarms: Alarms = new Map()
  const share = memory.usedBytes / memory.limitBytes
  if (share >= (isOpen('server.memory') ? MEMORY_CALM_BELOW : MEMORY_REPORTED_FROM)) {
    const text = `Redis has used ${Math.round(share * 100)} % of its memory. Publishing stops at 75 %.`
    alarms.set('server.memory', { ...place, type: 'server.memory', text })
  }
  if (risks.includes('disk')) {
    const text = `Redis could not write its files (${failedWrites.join(', ')}). Free space, or replace the disk.`
    alarms.set('server.disk', { ...place, type: 'server.disk', text })
  }
  return alarms
}
