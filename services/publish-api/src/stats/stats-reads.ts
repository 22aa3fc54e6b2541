/** Reads statistics. However many callers read the same statistics, Redis is read at most every two seconds. */
import { STATS_RANGES, type StatsRange } from '@fantail/contracts/schemas/overview/stats-schemas'
import type { SeriesKind, Stats, StatsStore } from '@fantail/store'
import { LRUCache } from 'lru-cache'
import { SharedRead } from '../caches/shared-read.ts'

const STATS_FRESH_MS = 2_000
/** Statistics that an API process keeps for two seconds. Past it: the least recent are read again when asked. */
const STATS_SHARED_MAX = 200

interface StatsReadsOptions {
  store: Pick<StatsStore, 'read' | 'isKept' | 'topics'>
  /** Epoch ms by Redis's clock. */
  clock: () => number
  /** Tests set it to 0. */
  freshMs?: number
}

export class StatsReads {
  readonly #options: StatsReadsOptions
  readonly #shared = new LRUCache<string, SharedRead<Stats>>({ max: STATS_SHARED_MAX })

  constructor(options: StatsReadsOptions) {
    this.#options = options
  }

  /** The sums over these names. */
  read(kind: SeriesKind, names: string[], range: StatsRange): Promise<Stats> {
    const { store, clock, freshMs = STATS_FRESH_MS } = this.#options
    const key = [range, kind, ...names].join('\n')
    const { step, steps } = STATS_RANGES[range]
    const shared =
      this.#shared.get(key) ??
      new SharedRead(() => store.read({ kind, names, step, steps, now: clock() }), { freshMs })
    this.#shared.set(key, shared)
    return shared.get()
  }

  isKept(kind: SeriesKind, name: string): Promise<boolean> {
    return this.#options.store.isKept(kind, name)
  }

  /** ARNs of the topics with statistics, those with the latest counts first. */
  topics(): Promise<string[]> {
    return this.#options.store.topics()
  }
}
