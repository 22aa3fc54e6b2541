/**
 * The state of messages and lanes as lines of text, for the errors of waits. If the API does not answer, the lines say
 * why.
 */
import type { Fantail } from '@fantail/client'
import type { Delivery, Subscription } from '@fantail/client/api'

/** Messages whose timelines an error of a test wait shows. Past it: only the latest. */
const TIMELINES_MAX = 5
/** Deliveries of a message, and lanes, that an error of a test wait shows. Past it: only the first. */
const STAND_ROWS_MAX = 20
/** Subscriptions whose lanes an error of a test wait looks at. Past it: only the first. */
const STAND_SUBSCRIPTIONS_MAX = 100
const SOON = { deadlineMs: 3_000 }

/** The deliveries of these messages, and the lanes that are not empty. */
export async function standText(fantail: Fantail, messageIds: readonly string[]): Promise<string> {
  const latest = messageIds.slice(-TIMELINES_MAX)
  const parts = await Promise.all([...latest.map((id) => timelineText(fantail, id)), lanesText(fantail)])
  return parts.join('\n')
}

async function timelineText(fantail: Fantail, messageId: string): Promise<string> {
  try {
    const deliveries = await fantail.messages(messageId).deliveries(SOON)
    const rows = deliveries.slice(0, STAND_ROWS_MAX).map((delivery) => `  ${deliveryText(delivery)}`)
    return [`message ${messageId}: ${countOf(deliveries, 'delivery', 'deliveries')}`, ...rows].join('\n')
  } catch (error) {
    return `message ${messageId}: ${reasonOf(error)}`
  }
}

async function lanesText(fantail: Fantail): Promise<string> {
  try {
    const all: Subscription[] = []
    for await (const subscription of fantail.subscriptions.list({ limit: STAND_SUBSCRIPTIONS_MAX }, SOON)) {
      if (all.push(subscription) === STAND_SUBSCRIPTIONS_MAX) break
    }
    const shown = all.filter(
      ({ lane, verdict }) => lane.waiting + lane.inFlight > 0 || verdict.code !== 'fine',
    )
    const head = `lanes: ${shown.length} of the first ${all.length} hold deliveries or need attention`
    return [head, ...shown.slice(0, STAND_ROWS_MAX).map((lane) => `  ${laneText(lane)}`)].join('\n')
  } catch (error) {
    return `lanes: ${reasonOf(error)}`
  }
}

function deliveryText(delivery: Delivery): string {
  const { state, endpoint, subscriptionId, attempts, attemptsMax, lastStatusCode, lastError } = delivery
  const last = lastStatusCode ?? lastError
  const { cause, delayMs, nextAttemptAt, reason } = delivery
  const parts = [
    `${state} to ${endpoint ?? subscriptionId ?? 'all'}`,
    `${attempts} of ${attemptsMax ?? '?'} attempts`,
    ...(last === null ? [] : [`last ${last}`]),
    ...(cause === null ? [] : [`because ${cause}${delayMs === null ? '' : ` (${delayMs} ms)`}`]),
    ...(nextAttemptAt === null ? [] : [`next at ${nextAttemptAt}`]),
    ...(reason === null || reason === cause ? [] : [`reason ${reason}`]),
  ]
  return parts.join(', ')
}

function laneText({ endpoint, status, lane, verdict }: Subscription): string {
  const { waiting, inFlight, nextAttemptAt } = lane
  const next = nextAttemptAt === null ? '' : `, next attempt at ${nextAttemptAt}`
  return `${endpoint} ${status}: ${waiting} waiting, ${inFlight} in flight${next}; ${verdict.code}: ${verdict.sentence}`
}

function countOf(items: readonly unknown[], one: string, many: string): string {
  return `${items.length} ${items.length === 1 ? one : many}`
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
