/**
 * The newest live events of one query, outside of React: a bounded list, and how current it is. Screens read it a few
 * times a second, however fast events come.
 */
import type { EventGap } from '@fantail/client'
import type { DeliveryEvent } from '@fantail/client/api'
import type { TailEvent } from './read-events.ts'
import { shareStream } from './shared-stream.ts'
import type { TailQuery } from './tab-queries.ts'

/** Live events that the console keeps in a tab. Past it: the oldest are dropped from the screen. */
const TAIL_ROWS_MAX = 5_000
const TAIL_SHOW_MS = 250
/** The server reports every five seconds how current it is. After this silence the page shows that it is stale. */
const UNHEARD_MS = 12_000
const TAIL_CHECK_MS = 1_000
/** A hidden tab closes its stream after this time. */
const TAIL_HIDDEN_MS = 30_000

export type TailRow = { key: number } & ({ event: DeliveryEvent } | { gap: EventGap })

export type TailState =
  | { is: 'connecting' }
  | { is: 'live' }
  /** The server keeps no outcome log. */
  | { is: 'liveWithoutEnds' }
  /** `since`: epoch ms. */
  | { is: 'stale'; since: number }
  | { is: 'refused'; code: string; message: string }

export interface TailView {
  /** Newest first. */
  rows: readonly TailRow[]
  /** How many events came so far. */
  count: number
  state: TailState
}

export class LiveTail {
  readonly #query: TailQuery
  readonly #listeners = new Set<() => void>()
  #rows: TailRow[] = []
  #count = 0
  #keys = 0
  #state: TailState = { is: 'connecting' }
  #heardAt = Date.now()
  #lastId: string | undefined
  #view: TailView = { rows: [], count: 0, state: this.#state }
  #showing: ReturnType<typeof setTimeout> | undefined
  #close: (() => void) | undefined
  #hidden: ReturnType<typeof setTimeout> | undefined

  constructor(query: TailQuery) {
    this.#query = query
  }

  /** Opens the stream. Returns a function that closes it. */
  start(): () => void {
    const onVisibility = () => this.#onVisibility()
    const check = setInterval(() => this.#check(), TAIL_CHECK_MS)
    document.addEventListener('visibilitychange', onVisibility)
    this.#open()
    return () => {
      clearInterval(check)
      clearTimeout(this.#hidden)
      clearTimeout(this.#showing)
      this.#showing = undefined
      document.removeEventListener('visibilitychange', onVisibility)
      this.#end()
    }
  }

  readonly view = (): TailView => this.#view

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #open(): void {
    this.#heardAt = Date.now()
    this.#close ??= shareStream({
      query: this.#query,
      lastId: this.#lastId,
      take: (events) => this.#take(events),
    })
  }

  #end(): void {
    this.#close?.()
    this.#close = undefined
  }

  #onVisibility(): void {
    clearTimeout(this.#hidden)
    if (document.hidden) this.#hidden = setTimeout(() => this.#end(), TAIL_HIDDEN_MS)
    else if (this.#state.is !== 'refused') this.#open()
  }

  #take(events: TailEvent[]): void {
    this.#heardAt = Date.now()
    for (const event of events) this.#takeOne(event)
    if (this.#rows.length > TAIL_ROWS_MAX) this.#rows = this.#rows.slice(-TAIL_ROWS_MAX)
    this.#showSoon()
  }

  #takeOne(event: TailEvent): void {
    if ('id' in event) this.#lastId = event.id ?? this.#lastId
    switch (event.name) {
      case 'event':
        this.#count++
        this.#rows.push({ key: this.#keys++, event: event.data })
        return
      case 'gap':
        this.#rows.push({ key: this.#keys++, gap: event.data })
        return
      case 'state':
        this.#become(event.data.live ? { is: event.data.ends ? 'live' : 'liveWithoutEnds' } : this.#stale())
        return
      case 'lost':
        this.#become(this.#stale())
        return
      case 'refused':
        this.#become({ is: 'refused', code: event.code, message: event.message })
        this.#end()
    }
  }

  #stale(): TailState {
    if (this.#state.is === 'connecting' || this.#state.is === 'stale') return this.#state
    return { is: 'stale', since: Date.now() }
  }

  #become(state: TailState): void {
    this.#state = state
  }

  #check(): void {
    if (Date.now() - this.#heardAt < UNHEARD_MS || !this.#close) return
    this.#become(this.#stale())
    this.#showSoon()
  }

  #showSoon(): void {
    this.#showing ??= setTimeout(() => {
      this.#showing = undefined
      this.#view = { rows: this.#rows.toReversed(), count: this.#count, state: this.#state }
      for (const listener of this.#listeners) listener()
    }, TAIL_SHOW_MS)
  }
}
