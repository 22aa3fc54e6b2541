/** A model of a FIFO queue with plain arrays and maps. Times are seconds of its clock. */
import { ModelClock } from './queues-model.fixture.ts'

const DEDUP_S = 300
const ATTEMPT_S = 300
const RECENT_S = 600
export const RETENTION_S = 450

export interface FifoItem {
  id: string
  group: string
  /** Its sender gave the id. */
  given: boolean
  /** A redrive policy brought it. */
  brought: boolean
  sequence: number
  keptFrom: number
  /** When it becomes visible again. null: it was never received. */
  due: number | null
  count: number
  handle: string
  /** Number of receives and of changes of its time. */
  changes: number
}

interface Copy {
  id: string
  group: string
  sequence: number
  at: number
}

interface Attempt {
  at: number
  notes: { item: FifoItem; changes: number; due: number }[]
}

export class FifoModel extends ModelClock {
  delay = 0
  scope: 'queue' | 'messageGroup' = 'queue'
  /** Items in the order of their sequence numbers. */
  items: FifoItem[] = []
  sequence = 0
  readonly #recent = new Map<string, number>()
  readonly #copies = new Map<string, Copy>()
  readonly #attempts = new Map<string, Attempt>()
  #forgot = 0

  /** Stores an item, or returns the one that it repeats. */
  send({ id, group, given, dedup }: { id: string; group: string; given: boolean; dedup: string | null }) {
    const known = given ? this.#known(id, false) : undefined
    if (known) return { ...known, duplicate: true }
    const copy = dedup === null ? undefined : this.#copy(dedup, group)
    if (copy) return { id: copy.id, sequence: copy.sequence, duplicate: true }
    const item = this.add({ id, group, given, brought: false, count: 0 })
    const { sequence } = item
    if (dedup !== null) this.#copies.set(this.#key(dedup, group), { id, group, sequence, at: this.clock })
    return { id, sequence, duplicate: false }
  }

  add(set: Pick<FifoItem, 'id' | 'group' | 'given' | 'brought' | 'count'>): FifoItem {
    this.sequence += 1
    const item = { ...set, sequence: this.sequence, keptFrom: this.clock, due: null, handle: '', changes: 0 }
    this.items.push(item)
    return item
  }

  /** Takes an item that a redrive policy moved here. Nothing happens if it came before. */
  take(item: FifoItem): void {
    if (this.#known(item.id, true) === undefined) this.add({ ...item, given: true, brought: true })
  }

  remove(item: FifoItem): void {
    this.items = this.items.filter((other) => other !== item)
    if (item.given) this.#recent.set(recentName(item.id, item.brought), this.clock)
  }

  expire(): void {
    for (const item of this.items) if (item.keptFrom + RETENTION_S <= this.clock) this.remove(item)
  }

  purge(): void {
    for (const item of this.items) this.remove(item)
    this.#forgot = this.sequence
  }

  /** By group, the items that a receive may return or move, in order. */
  receivable(): FifoItem[][] {
    return this.#groups().map((items) => {
      const end = items.findIndex((item) => this.#visibleAt(item) > this.clock)
      return end < 0 ? items : items.slice(0, end)
    })
  }

  received(item: FifoItem, { timeout, handle }: { timeout: number; handle: string }): void {
    Object.assign(item, {
      count: item.count + 1,
      due: this.clock + timeout,
      handle,
      changes: item.changes + 1,
    })
  }

  /** With a timeout of 0 the message is visible at any time of the clock. */
  hide(item: FifoItem, timeout: number): void {
    Object.assign(item, { due: this.clock + (timeout || -1), changes: item.changes + 1 })
  }

  inFlight(item: FifoItem): boolean {
    return item.due !== null && item.due > this.clock
  }

  note(attempt: string, items: FifoItem[]): void {
    const notes = items.map((item) => ({ item, changes: item.changes, due: item.due ?? 0 }))
    if (items.length > 0) this.#attempts.set(attempt, { at: this.clock, notes })
  }

  /** The answer to a repeated attempt: a new receive, a refusal, or the same items, now hidden again. */
  repeat(attempt: string, timeout: number): FifoItem[] | 'new' | 'changed' {
    const { at, notes } = this.#attempts.get(attempt) ?? { at: Number.NEGATIVE_INFINITY, notes: [] }
    if (at + ATTEMPT_S <= this.clock) return 'new'
    const same = notes.every(({ item, changes }) => this.items.includes(item) && item.changes === changes)
    if (!same) return 'changed'
    this.#attempts.delete(attempt)
    if (notes.some(({ due }) => due <= this.clock)) return 'new'
    for (const { item } of notes) item.due = this.clock + timeout
    const items = notes.map(({ item }) => item)
    this.note(attempt, items)
    return items
  }

  /** Counts like read-queue. An item received before the delay was raised counts as delayed too. */
  counts() {
    const inFlight = this.items.filter((item) => this.inFlight(item)).length
    const late = this.items.filter(({ keptFrom }) => keptFrom + this.delay > this.clock)
    const delayed = this.delay > 0 ? late.length : 0
    const heads = this.#groups().flatMap((items) => items.slice(0, 1))
    return {
      visible: Math.max(this.items.length - inFlight - delayed, 0),
      inFlight,
      delayed,
      groupsInFlight: heads.filter((item) => this.inFlight(item)).length,
    }
  }

  /** Whether a change by time is so near that a call's few ms decide. */
  undecided(): boolean {
    const moments = [
      ...this.items.flatMap(({ due, keptFrom }) => [due ?? 0, keptFrom + RETENTION_S]),
      ...(this.delay > 0 ? this.items.map(({ keptFrom }) => keptFrom + this.delay) : []),
      ...[...this.#recent.values()].map((at) => at + RECENT_S),
      ...[...this.#copies.values()].map(({ at }) => at + DEDUP_S),
      ...[...this.#attempts.values()].map(({ at }) => at + ATTEMPT_S),
    ]
    const setBack = Math.abs(this.now + this.offset + 1 - this.seen) < 0.2
    return setBack || moments.some((moment) => Math.abs(moment - this.clock) < 0.2)
  }

  #visibleAt({ due, keptFrom }: FifoItem): number {
    return due ?? keptFrom + this.delay
  }

  #groups(): FifoItem[][] {
    return [...Map.groupBy(this.items, ({ group }) => group).values()]
  }

  #known(id: string, brought: boolean): { id: string; sequence: number | null } | undefined {
    const item = this.items.find((other) => other.id === id)
    if (item) return { id, sequence: item.sequence }
    const left = this.#recent.get(recentName(id, brought)) ?? Number.NEGATIVE_INFINITY
    return left > this.clock - RECENT_S ? { id, sequence: null } : undefined
  }

  #key(dedup: string, group: string): string {
    return this.scope === 'queue' ? `queue ${dedup}` : `${group} ${dedup}`
  }

  #copy(dedup: string, group: string): Copy | undefined {
    const copies = [this.#copies.get(`${group} ${dedup}`), this.#copies.get(`queue ${dedup}`)]
    return copies.find(
      (copy) =>
        copy !== undefined &&
        copy.at > this.clock - DEDUP_S &&
        copy.sequence > this.#forgot &&
        (copy.group === group || this.scope === 'queue'),
    )
  }
}

function recentName(id: string, brought: boolean): string {
  return brought ? `${id}>` : id
}
