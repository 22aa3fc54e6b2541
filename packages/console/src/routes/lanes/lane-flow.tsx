/** Conclusions from the figures of a lane: whether it drains, which action helps it now, and its place on the board. */
import type { Lane, Subscription } from '@fantail/client/api'
import { useRef } from 'react'
import { words } from '../../i18n/en.ts'
import { formatSeconds } from '../../parts/formats.ts'
import { Badge, type Tone } from '../../parts/show.tsx'

type Flow = Pick<Lane, 'lane' | 'verdict'>

/** How long what waits will take. A lane that takes in more than it delivers never drains. */
export function drainText(flow: Flow): string {
  const growth = growthOf(flow)
  if (growth > 0) return words.lanes.grows(growth)
  const { drainSeconds } = flow.lane
  return drainSeconds === null ? '–' : formatSeconds(drainSeconds)
}

/** Two rates of a minute differ by chance. A smaller share more in than out is not called growth. */
const CHANCE = 0.1

/** Deliveries a second that come in and do not leave, by the figures of the last minute. 0: not known to grow. */
function growthOf(flow: Flow): number {
  const { code, facts } = flow.verdict
  const leaving = leavingOf(flow)
  if (facts.arrivalsPerSecond === null || leaving === null || code === 'fine') return 0
  const growth = facts.arrivalsPerSecond - leaving
  return code === 'tooSlowIn' || growth > leaving * CHANCE ? Math.max(0, growth) : 0
}

/** Deliveries a second that leave the lane. `drainSeconds` also counts failed attempts. null: unknown. */
function leavingOf({ lane: { waiting, drainSeconds, rate }, verdict }: Flow): number | null {
  if (drainSeconds) return waiting / drainSeconds
  return verdict.code === 'tooSlowIn' ? (rate ?? verdict.facts.attemptsPerSecond) : null
}

/** The share above the arrivals that a suggested throttle has, so that the backlog drains too. */
const SPARE = 1.25

/** undefined: no throttle keeps the lane from draining. */
export function rateThatDrains({ lane, verdict }: Flow): number | undefined {
  const { arrivalsPerSecond } = verdict.facts
  if (verdict.code !== 'tooSlowIn' || lane.rate === null || arrivalsPerSecond === null) return undefined
  return Math.ceil(arrivalsPerSecond * SPARE)
}

/** How long what waits takes at this rate. undefined: more comes in, nothing waits, or the arrivals are unknown. */
export function secondsToDrainAt({ lane, verdict }: Flow, rate: number): number | undefined {
  const { arrivalsPerSecond: arrivals } = verdict.facts
  if (arrivals === null || rate <= arrivals || lane.waiting === 0) return undefined
  return lane.waiting / (rate - arrivals)
}

/** Why Retry now would do nothing. undefined: it helps. */
export function whyNoRetry({ status, lane }: Pick<Subscription, 'status' | 'lane'>): string | undefined {
  if (status === 'paused') return words.laneActions.retryPaused
  return lane.waiting === 0 ? words.laneActions.retryEmpty : undefined
}

const SENDS = new Set<Lane['verdict']['code']>(['fine', 'catchingUp', 'throttled', 'tooSlowIn'])

/** The advice after a test that succeeded. */
export function afterGoodTest({ status, lane, verdict }: Subscription): string {
  const texts = words.laneActions.testedGood
  if (status === 'paused') return texts.resume
  if (lane.waiting === 0) return texts.empty
  return SENDS.has(verdict.code) ? texts.sending : texts.retry
}

type Verdict = Lane['verdict']

const TONES: Record<Verdict['code'], Tone> = {
  gone: 'bad',
  paused: 'warn',
  pending: undefined,
  misconfigured: 'bad',
  noToken: 'bad',
  dlqMissing: 'bad',
  endpointDisabled: 'bad',
  queueMissing: 'bad',
  queueRefuses: 'bad',
  quarantined: 'bad',
  circuitOpen: 'bad',
  failing: 'bad',
  hung: 'bad',
  groupBlocked: 'bad',
  tooSlowIn: 'bad',
  throttled: 'warn',
  undispatched: 'bad',
  catchingUp: 'warn',
  fine: 'good',
}

/** The server’s verdict on a lane, in one word. The sentence of the verdict appears on hover. */
export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const { lastStatusCode, lastError } = verdict.facts
  const cause = verdict.code === 'failing' ? ` ${lastStatusCode ?? lastError ?? ''}` : ''
  return (
    <span title={verdict.sentence}>
      <Badge tone={TONES[verdict.code]}>
        {words.lanes.verdicts[verdict.code]}
        {cause}
      </Badge>
    </span>
  )
}

export interface LaneRow extends Lane {
  /** The lane is no longer in the list. Its figures are those of the panel, or unknown. */
  hasLeft: boolean
}

/**
 * While a row is open, all rows keep their places, so that nothing moves under the hand. The open row has the figures
 * of the panel, and other rows those of the list.
 */
export function useSteadyRows(lanes: Lane[], opened: Subscription | undefined, isOpen: boolean): LaneRow[] {
  const shown = useRef<LaneRow[]>([])
  const rows = rowsInPlace(isOpen ? shown.current : [], lanes)
  shown.current = rows
  return rows.map((row) => (opened && row.subscriptionId === opened.id ? asInPanel(row, opened) : row))
}

export function rowsInPlace(before: readonly LaneRow[], lanes: readonly Lane[]): LaneRow[] {
  const fresh = new Map(lanes.map((lane) => [lane.subscriptionId, lane]))
  const known = before.map((row) => {
    const now = fresh.get(row.subscriptionId)
    fresh.delete(row.subscriptionId)
    return now ? { ...now, hasLeft: false } : { ...row, hasLeft: true }
  })
  return [...known, ...[...fresh.values()].map((lane) => ({ ...lane, hasLeft: false }))]
}

function asInPanel(row: LaneRow, { name, endpoint, status, lane, verdict }: Subscription): LaneRow {
  return { ...row, name, endpoint, status, lane, verdict }
}
