/**
 * The filters of live events in the open tabs of this browser. Each tab holds a lock whose name has its filter. A tab
 * that crashes or is closed loses its lock, so nobody has to clean up after it.
 */
import type { EventsOptions } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'

export type TailQuery = Pick<EventsOptions, 'topic' | 'subscription' | 'statusCode'> & {
  type?: DeliveryEvent['type']
}

const PREFIX = 'fantail tail '

/** Holds the lock until the signal aborts. Resolves when the other tabs can see it. */
export function announceQuery(locks: LockManager, query: TailQuery, signal: AbortSignal): Promise<void> {
  const name = `${PREFIX}${JSON.stringify({ query, tab: crypto.randomUUID() })}`
  return new Promise((resolve, reject) => {
    const ended = new Promise<void>((end) => signal.addEventListener('abort', () => end(), { once: true }))
    locks
      .request(name, { signal }, () => {
        resolve()
        return ended
      })
      .catch((error: unknown) => (signal.aborted ? resolve() : reject(error)))
  })
}

/** The narrowest query that has the events of all tabs: members that are the same in each of them. */
export async function commonQuery(locks: LockManager, own: TailQuery): Promise<TailQuery> {
  const { held = [] } = await locks.query()
  const others = held.flatMap(({ name = '' }) => (name.startsWith(PREFIX) ? [queryIn(name)] : []))
  return others.reduce(inCommon, own)
}

function queryIn(name: string): TailQuery {
  return (JSON.parse(name.slice(PREFIX.length)) as { query: TailQuery }).query
}

function inCommon(a: TailQuery, b: TailQuery): TailQuery {
  const same = Object.entries(a).filter(([member, value]) => b[member as keyof TailQuery] === value)
  return Object.fromEntries(same)
}

/** Whether the server would send the event to a stream with this query. */
export function isWanted(query: TailQuery, event: DeliveryEvent): boolean {
  const { topic, subscription, type, statusCode } = query
  return (
    isNamed(topic, event.topicArn) &&
    isNamed(subscription, event.subscriptionId) &&
    (type === undefined || type === event.type) &&
    (statusCode === undefined || hasStatus(String(statusCode).split(','), event.statusCode))
  )
}

/** A name or an ARN. */
function isNamed(wanted: string | undefined, found: string | null | undefined): boolean {
  if (wanted === undefined || wanted === found) return true
  const last = (text: string) => text.slice(text.lastIndexOf(':') + 1)
  return found != null && last(wanted) === last(found)
}

/** null: there was no answer. */
function hasStatus(wanted: string[], status: number | null | undefined): boolean {
  if (status === undefined) return false
  if (status === null) return wanted.includes('none')
  return wanted.includes(String(status)) || wanted.includes(`${Math.trunc(status / 100)}xx`)
}
