/**
 * Announces which live events listeners want. An API process with listeners repeats the announcement on a channel.
 * Workers and other processes send it events only while its last announcement is valid. Without listeners no events are
 * sent.
 */
import type { UnloggedEventType } from '@fantail/contracts/schemas/events/event-schemas'
import type { DeliveryEvent } from './log-events.ts'

export interface Interest {
  /** Id of the listener. */
  id: string
  types: readonly UnloggedEventType[]
  topicArn?: string | undefined
  subscriptionId?: string | undefined
  /** Statuses such as 503, 5xx or `none`. Absent: any status. */
  statuses?: readonly string[] | undefined
  /** Only topics of this account. Absent: topics of any account. */
  account?: string | undefined
  /** Only topics whose names begin with one of these prefixes. Empty or absent: any topic. */
  prefixes?: readonly string[] | undefined
  /** The most events in a second. */
  max: number
}

export interface InterestNotice {
  /** Id of the API process. */
  process: string
  /** Increases with each announcement. A cluster may deliver two announcements in the wrong order. */
  sequence: number
  interests: Interest[]
}

/** How long an announcement is valid. */
export const INTEREST_MS = 10_000

export type EventFacts = Pick<DeliveryEvent, 'type' | 'topicArn' | 'subscriptionId' | 'statusCode'>

/**
 * Whether the statuses contain this one. null: there was no answer. An event that has no status at all matches none of
 * them.
 */
function hasStatus(statuses: readonly string[] | undefined, code: number | null | undefined): boolean {
  if (statuses === undefined) return true
  if (code === undefined) return false
  if (code === null) return statuses.includes('none')
  return statuses.includes(String(code)) || statuses.includes(`${Math.trunc(code / 100)}xx`)
}

export function isWanted(interest: Interest, event: EventFacts): boolean {
  const { types, topicArn, subscriptionId, statuses } = interest
  if (!(types as readonly string[]).includes(event.type)) return false
  if (topicArn !== undefined && event.topicArn !== topicArn) return false
  if (subscriptionId !== undefined && event.subscriptionId !== subscriptionId) return false
  return hasStatus(statuses, event.statusCode) && mayBeSeen(interest, event.topicArn ?? '')
}

const NO_PREFIXES: readonly string[] = []

function mayBeSeen({ account, prefixes = NO_PREFIXES }: Interest, topicArn: string): boolean {
  if (account === undefined && prefixes.length === 0) return true
  const [, , , , owner, name = ''] = topicArn.split(':', 6)
  if (account !== undefined && owner !== account) return false
  return prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix))
}

/** Undefined: another release wrote the text, and this release does not understand it. */
export function parseInterest(text: string): InterestNotice | undefined {
  try {
    const notice = JSON.parse(text) as InterestNotice
    return typeof notice.process === 'string' && Array.isArray(notice.interests) ? notice : undefined
  } catch {
    return undefined
  }
}
