/** Reads the stream of live events, and hands on what came in a moment together. */
import { type EventGap, type EventsOptions, type EventsState, Fantail, FantailError } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import { withSession } from '../api/send.ts'
import type { TailQuery } from './tab-queries.ts'

/** The messages that tabs send to each other. */
export type TailEvent =
  | { name: 'event'; id: string | undefined; data: DeliveryEvent }
  | { name: 'gap'; id: string | undefined; data: EventGap }
  | { name: 'state'; id: string | undefined; data: EventsState }
  | { name: 'lost' }
  | { name: 'refused'; code: string; message: string }

/** Events of this time are passed on together. */
const PASS_ON_MS = 100

/** Whether the server would open a stream with this filter. Without an answer: it may. */
export async function isAccepted(query: TailQuery, signal: AbortSignal): Promise<boolean> {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const request = new Request(`/v1/events?${search}`, { method: 'HEAD', signal })
  return fetch(withSession(request)).then(
    ({ status }) => status < 400 || status >= 500,
    () => true,
  )
}

/** Reads until the signal aborts or the server refuses. */
export async function readEvents(options: EventsOptions, give: (events: TailEvent[]) => void): Promise<void> {
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
