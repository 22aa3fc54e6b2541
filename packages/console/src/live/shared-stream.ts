/**
 * One stream of live events for all tabs of this browser with the same filters. The tab that holds a lock reads the
 * stream and passes everything on. When that tab is closed or hidden, another tab gets the lock and continues after the
 * last event.
 */
import { type EventGap, type EventsOptions, type EventsState, Fantail, FantailError } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import { withSession } from '../api/session.ts'

/** The messages that tabs send to each other. */
export type TailEvent =
  | { name: 'event'; id: string | undefined; data: DeliveryEvent }
  | { name: 'gap'; id: string | undefined; data: EventGap }
  | { name: 'state'; id: string | undefined; data: EventsState }
  | { name: 'lost' }
  | { name: 'refused'; code: string; message: string }

export type TailQuery = Pick<EventsOptions, 'topic' | 'subscription' | 'type' | 'statusCode'>

type Passed = { events: TailEvent[] } | { hello: true }

/** Events that arrive within this time are passed on together. */
const PASS_ON_MS = 100

interface SharedStream {
  query: TailQuery
  /** The id after which the stream continues. */
  lastId: string | undefined
  take: (events: TailEvent[]) => void
}

/** Returns what ends it. */
export function shareStream({ query, lastId, take }: SharedStream): () => void {
  const name = `fantail events ${JSON.stringify(query)}`
  const channel = new BroadcastChannel(name)
  const end = new AbortController()
  const pass = (events: TailEvent[]) => {
    for (const event of events) if ('id' in event) lastId = event.id ?? lastId
    take(events)
  }
  let state: TailEvent | undefined
  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if ('events' in data) pass(data.events)
    else if (state) channel.postMessage({ events: [state] } satisfies Passed)
  }
  // Asks the tab that reads for its state.
  channel.postMessage({ hello: true } satisfies Passed)
  const lead = () =>
    readStream({ ...query, lastEventId: lastId, signal: end.signal }, (events) => {
      if (end.signal.aborted) return
      state = events.findLast(({ name: kind }) => kind !== 'event' && kind !== 'gap') ?? state
      pass(events)
      channel.postMessage({ events } satisfies Passed)
    })
  void whenAlone(name, end.signal, lead)
  return () => {
    end.abort()
    channel.close()
  }
}

/**
 * Runs `lead` while this tab holds the lock. Over plain HTTP, pages have locks only on loopback. Without locks, each
 * tab reads for itself.
 */
async function whenAlone(name: string, signal: AbortSignal, lead: () => Promise<void>): Promise<void> {
  const { locks } = navigator as { locks?: LockManager }
  if (!locks) return lead()
  try {
    await locks.request(name, { signal }, lead)
  } catch (error) {
    // The tab was closed before it got the lock.
    if (!signal.aborted) throw error
  }
}

async function readStream(options: EventsOptions, give: (events: TailEvent[]) => void): Promise<void> {
  const fantail = new Fantail({ url: location.origin, fetch: withCsrf })
  let gathered: TailEvent[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (gathered.length > 0) give(gathered)
    gathered = []
  }
  const add = (event: TailEvent) => {
    gathered.push(event)
    timer ??= setTimeout(flush, PASS_ON_MS)
  }
  try {
    for await (const event of fantail.events(options)) {
      if (event.name === 'lost') add({ name: 'lost' })
      else if (event.name === 'gap' || event.name === 'state') add(event as TailEvent)
      else if (event.name !== 'end') add({ name: 'event', id: event.id, data: event.data })
    }
  } catch (error) {
    flush()
    if (options.signal?.aborted) return
    const { code, message } =
      error instanceof FantailError ? error : new FantailError('network', String(error))
    give([{ name: 'refused', code, message }])
  } finally {
    clearTimeout(timer)
  }
}

const withCsrf: typeof fetch = (input, init) => fetch(withSession(new Request(input, init)))
