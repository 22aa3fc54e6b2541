/**
 * One stream of live events for all tabs of this browser. The tab that holds a lock reads it and passes everything on.
 * When it is closed or hidden, another tab gets the lock and goes on behind the last event. If tabs have different
 * filters, the stream has what their filters have in common, and each tab chooses its own events. A browser opens only
 * six connections to a server: with one for each tab, the seventh page would wait for ever.
 */
import { isAccepted, readEvents, type TailEvent } from './read-events.ts'
import { announceQuery, commonQuery, isWanted, type TailQuery } from './tab-queries.ts'

/** `tabs`: a tab was opened or closed. */
type Passed = { events: TailEvent[] } | { tabs: true }

/** The lock of the tab that reads, and the channel of all tabs. */
const SHARED = 'fantail events'

interface SharedStream {
  query: TailQuery
  /** Behind it the stream goes on. */
  lastId: string | undefined
  take: (events: TailEvent[]) => void
}

/** Returns what ends it. */
export function shareStream(stream: SharedStream): () => void {
  const tab = new SharingTab(stream)
  void tab.run()
  return () => tab.end()
}

class SharingTab {
  readonly #query: TailQuery
  readonly #take: (events: TailEvent[]) => void
  readonly #channel = new BroadcastChannel(SHARED)
  readonly #end = new AbortController()
  #lastId: string | undefined
  /** The tab that reads keeps its latest state for tabs that open. */
  #state: TailEvent | undefined
  #onTabs: (() => Promise<void>) | undefined

  constructor({ query, lastId, take }: SharedStream) {
    this.#query = query
    this.#lastId = lastId
    this.#take = take
    this.#channel.onmessage = ({ data }: MessageEvent<Passed>) => {
      if ('events' in data) this.#pass(data.events)
      else void this.#onTabs?.()
    }
  }

  /** Without locks, which pages over plain HTTP elsewhere than on loopback lack, each tab reads for itself. */
  async run(): Promise<void> {
    const { locks } = navigator as { locks?: LockManager }
    const { signal } = this.#end
    // A stream of several tabs does not have the whole filter, so the server would not refuse a wrong one.
    if (!locks || !(await isAccepted(this.#query, signal))) {
      return readEvents({ ...this.#query, lastEventId: this.#lastId, signal }, (events) => this.#pass(events))
    }
    try {
      await announceQuery(locks, this.#query, signal)
      if (signal.aborted) return
      this.#say({ tabs: true })
      await locks.request(SHARED, { signal }, () => this.#lead(locks))
    } catch (error) {
      // It was closed before it had the lock.
      if (!signal.aborted) throw error
    }
  }

  end(): void {
    if (this.#end.signal.aborted) return
    this.#end.abort()
    this.#say({ tabs: true })
    this.#channel.close()
  }

  /** Reads until the server refuses or the tab ends. When tabs come and go, the stream gets wider or narrower. */
  async #lead(locks: LockManager): Promise<void> {
    const { signal } = this.#end
    for (let isOver = false; !isOver && !signal.aborted; ) {
      const changed = new AbortController()
      const common = commonQuery(locks, this.#query)
      this.#onTabs = async () => {
        if (this.#state) this.#say({ events: [this.#state] })
        const next = await commonQuery(locks, this.#query)
        if (JSON.stringify(next) !== JSON.stringify(await common)) changed.abort()
      }
      await this.#read(await common, AbortSignal.any([signal, changed.signal]))
      isOver = !changed.signal.aborted
    }
  }

  #read(query: TailQuery, signal: AbortSignal): Promise<void> {
    return readEvents({ ...query, lastEventId: this.#lastId, signal }, (events) => {
      if (this.#end.signal.aborted) return
      this.#state = events.findLast(({ name }) => name !== 'event' && name !== 'gap') ?? this.#state
      this.#pass(events)
      this.#say({ events })
    })
  }

  #pass(events: TailEvent[]): void {
    for (const event of events) if ('id' in event) this.#lastId = event.id ?? this.#lastId
    const own = events.filter((event) => event.name !== 'event' || isWanted(this.#query, event.data))
    if (own.length > 0) this.#take(own)
  }

  #say(passed: Passed): void {
    this.#channel.postMessage(passed)
  }
}
