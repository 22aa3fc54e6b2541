/** Conclusions from the figures of a lane: whether it drains, and which action helps it now. */
import type { Lane, Subscription } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import { formatSeconds } from '../../parts/formats.ts'

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
