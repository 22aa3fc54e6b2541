/**
 * Live events of the API, as one stream over several connections. If a connection breaks or falls silent, a new one is
 * opened. It continues with the ends of deliveries that follow the last one received.
 */
import { FantailError, failureKind } from '../failures/client-error.ts'
import type { DeliveryEvent, ListenToEventsData } from '../generated/index.ts'
import { retryDelayMs } from '../retries/retry-quota.ts'
import { framesIn } from '../transport/event-frames.ts'
import type { Transport } from '../transport/transport.ts'

/** The events that are missing from the stream. */
export interface EventGap {
  /** null: nobody knows how many. */
  dropped: number | null
  from: string | null
  to: string
  why: 'rate' | 'lag' | 'trimmed' | 'reconnect'
}

/** How current the stream is. */
export interface EventsState {
  live: boolean
  lagMs: number
  /** false: the server keeps no outcome log, so the stream has no ends of deliveries. */
  ends: boolean
}

/** An event of the stream, or a change of the stream itself. */
export type LiveEvent =
  | { name: DeliveryEvent['type']; id: string | undefined; data: DeliveryEvent }
  | { name: 'gap'; id: string | undefined; data: EventGap }
  | { name: 'state'; id: string | undefined; data: EventsState }
  | { name: 'end'; id: undefined; data: { why: 'stopping' | 'revoked' | 'slow' } }
  /** The connection has failed. The client connects again after this time. */
  | { name: 'lost'; id: undefined; data: { error: FantailError; retryInMs: number } }

type Query = NonNullable<ListenToEventsData['query']>

export interface EventsOptions extends Omit<Query, 'type' | 'statusCode'> {
  /** One type or several. Default: all. */
  type?: DeliveryEvent['type'] | DeliveryEvent['type'][]
  /** Statuses such as 503, 5xx or none. Default: all. */
  statusCode?: string | string[]
  /** The last `id` of an earlier stream. */
  lastEventId?: string | undefined
  /** Ends the stream. */
  signal?: AbortSignal | undefined
}

/** After this silence the connection counts as broken. The server sends something every five seconds. */
const SILENCE_MS = 20_000

/** Throws a FantailError if the server refuses, or if the signal aborts. */
export async function* liveEvents(
  transport: Pick<Transport, 'open'>,
  { lastEventId, signal, type, statusCode, ...rest }: EventsOptions,
): AsyncGenerator<LiveEvent, void, undefined> {
  const query = { ...rest, type: listText(type), statusCode: listText(statusCode) }
  let lastId = lastEventId
  for (let failures = 0; ; ) {
    const silence = silenceOf(signal)
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(lastId !== undefined && { 'last-event-id': lastId }),
      }
      const response = await transport.open({ url: '/v1/events', query, headers, signal: silence.signal })
      for await (const frame of framesIn(response, silence.heard)) {
        lastId = frame.id ?? lastId
        failures = 0
        yield frame as LiveEvent
      }
      throw new FantailError('network', 'the stream has ended', { retryable: true })
    } catch (error) {
      if (signal?.aborted || !(error instanceof FantailError) || !error.retryable) throw error
      failures++
      const retryInMs = error.retryAfterMs ?? pauseMs(error, failures)
      yield { name: 'lost', id: undefined, data: { error, retryInMs } }
      await pause(retryInMs, signal)
    } finally {
      silence.end()
    }
  }
}

/** The shortest pause before a reconnect. */
const RECONNECT_MS = 100
/** Pause before a stream of live events is opened again. Past it: the pause stays at this value. */
const RECONNECT_MS_MAX = 5_000

function pauseMs(error: FantailError, failures: number): number {
  return Math.min(RECONNECT_MS_MAX, RECONNECT_MS + retryDelayMs(failureKind(error), failures, Math.random()))
}

function listText(list: string | string[] | undefined): string | undefined {
  return Array.isArray(list) ? list.join(',') : list
}

/** A signal that aborts if the caller's signal aborts, or if nothing has arrived for too long. */
function silenceOf(given: AbortSignal | undefined) {
  const own = new AbortController()
  const stop = () => own.abort(given?.reason)
  const late = () =>
    own.abort(new FantailError('timeout', `the stream was silent for ${SILENCE_MS} ms`, { retryable: true }))
  let timer = setTimeout(late, SILENCE_MS)
  if (given?.aborted) stop()
  given?.addEventListener('abort', stop, { once: true })
  return {
    signal: own.signal,
    heard: () => {
      clearTimeout(timer)
      timer = setTimeout(late, SILENCE_MS)
    },
    end: () => {
      clearTimeout(timer)
      given?.removeEventListener('abort', stop)
      // The caller may have left the loop. The connection must then be closed.
      own.abort()
    },
  }
}

/** Ends early if the signal aborts. The next request then throws. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (signal?.aborted) done()
    else signal?.addEventListener('abort', done, { once: true })
  })
}
