/** Counts dead letters by topic, from the statistics, and new entries of the quarantine. */
import type { StatsStore } from '@fantail/store'
import { sideBySide } from '@fantail/store'
import type { ApiDeps } from '../deps/api-deps.ts'

const SPAN_MS = 60_000
/** Processes write their counts of a minute within this time after its end. */
const COUNTED_AFTER_MS = 15_000
/** Minutes of which a round tells. Past it: dead letters and entries of earlier minutes are not reported. */
const MINUTES_REPORTED_MAX = 60
/** Topics whose statistics are read at a time. Past it: the others follow. */
const TOPICS_READ_AT_ONCE = 8
/** Entries of the quarantine that a round looks at. Past it: the others are not reported. */
const ENTRIES_READ_MAX = 1_000

/** Whole minutes. */
interface Span {
  /** Epoch ms. */
  from: number
  until: number
}

/** The minutes that have ended since `reportedUntil`. The first round tells of none. */
export function spanSince(reportedUntil: number | null, now: number): Span {
  const until = Math.floor((now - COUNTED_AFTER_MS) / SPAN_MS) * SPAN_MS
  const from = Math.max(reportedUntil ?? until, until - MINUTES_REPORTED_MAX * SPAN_MS)
  return { from: Math.min(from, until), until }
}

export interface TopicCount {
  /** '': unknown. */
  topicArn: string
  count: number
}

/** Only topics with a seat in the statistics are counted. */
export async function deadLettersIn(
  stats: Pick<StatsStore, 'topics' | 'read'>,
  { from, until }: Span,
  isSilent: (topicArn: string) => boolean,
): Promise<TopicCount[]> {
  const steps = (until - from) / SPAN_MS
  if (steps === 0) return []
  const topics = (await stats.topics()).filter((arn) => !isSilent(arn))
  const counts = await sideBySide(topics, TOPICS_READ_AT_ONCE, async (topicArn): Promise<TopicCount> => {
    const read = { kind: 't', names: [topicArn], step: 'minute', steps, now: until - 1 } as const
    const { deadLettered } = await stats.read(read)
    return { topicArn, count: deadLettered.reduce((sum, count) => sum + count, 0) }
  })
  return counts.filter(({ count }) => count > 0)
}

export async function entriesIn(
  quarantine: Pick<ApiDeps['quarantine'], 'list'>,
  { from, until }: Span,
  isSilent: (topicArn: string) => boolean,
): Promise<TopicCount[]> {
  if (from === until) return []
  const { items } = await quarantine.list({ limit: ENTRIES_READ_MAX })
  const fresh = items.filter(({ quarantinedAt: at }) => at >= from && at < until)
  const byTopic = Map.groupBy(fresh, ({ topicArn }) => topicArn ?? '')
  const counts = [...byTopic].map(([topicArn, entries]) => ({ topicArn, count: entries.length }))
  return counts.filter(({ topicArn }) => !isSilent(topicArn))
}
