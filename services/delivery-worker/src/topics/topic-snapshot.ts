import type { TopicRecord } from '@fantail/contracts'
import type { SliceRef } from '@fantail/store'

/** A topic and its slices, as of one revision. */
export interface TopicSnapshot {
  topic: TopicRecord
  revision: string
  slices: SliceRef[]
  /** How many they hold, about. */
  subscriptions: number
  /** When this revision was fetched (performance.now()): a slice checked since then belongs to it. */
  since: number
  /** A slice with filters was met. */
  hasFilters: boolean
}
