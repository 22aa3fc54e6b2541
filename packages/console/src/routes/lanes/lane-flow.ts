/** Conclusions from the figures of a lane: whether it drains, and which action helps it now. */
import type { Lane, Subscription } from '../../api/api-types.ts'
import { words } from '../../i18n/en.ts'
import { formatSeconds } from '../../parts/formats.ts'

type Flow = Pick<Lane, 'lane' | 'verdict'>

/** How long what waits will take. A lane that takes in more than it sends never drains. */
export function drainText({ lane, verdict }: Flow): string {
  const { arrivalsPerSecond, attemptsPerSecond } = verdict.facts
  const out = lane.rate ?? attemptsPerSecond
  const isGrowing = verdict.code === 'tooSlowIn' && arrivalsPerSecond !== null && out !== null
  if (isGrowing && arrivalsPerSecond > out) return words.lanes.grows(arrivalsPerSecond - out)
  return lane.drainSeconds === null ? '–' : formatSeconds(lane.drainSeconds)
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
