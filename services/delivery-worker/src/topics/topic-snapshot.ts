import type { TopicRecord } from '@fantail/contracts'
import type { SliceRef } from '@fantail/store'

/** A topic and its slices at one revision. */
export interface TopicSnapshot {
  topic: TopicRecord
  revision: string
  slices: SliceRef[]
  /** About how many subscriptions the slices have. */
  subscriptions: number
  /** When this revision was fetched, by performance.now(). A slice that was checked later belongs to it. */
  since: number
  /** Whether a slice with filters was loaded. */
  hasFilters: boolean
}
