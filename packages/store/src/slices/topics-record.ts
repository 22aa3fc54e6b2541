/** The stored form of a topic's record, and the values that scripts need of it. */
import { randomBytes } from 'node:crypto'
import type { TopicRecord } from '@fantail/contracts'
import { parseRecord } from '../records/checksums.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { TOPIC, type TopicSettings } from '../records/topic-fields.ts'
import type { TopicScriptSettings } from './script-places.ts'

export function parseTopic(text: string, key: string): TopicRecord {
  return TOPIC.complete(parseRecord(text, key), key)
}

export function topicFields(settings: TopicSettings): TopicScriptSettings {
  const rate = settings.deliveryPolicy?.throttlePolicy?.maxReceivesPerSecond
  return {
    rate: rate === undefined ? '' : String(rate),
    retention: String(settings.retentionSeconds),
    overrides: settings.disableSubscriptionOverrides ? '1' : '',
  }
}

/** The bounds of the topic's ring of messages and of its archive in the form for scripts; '' for neither. */
export function keptField({ keepMessages, archive }: Partial<TopicSettings>): string {
  const ring = keepMessages ? `${keepMessages.seconds} ${keepMessages.bytes}` : ''
  if (!archive) return ring
  const { days, bytes = 0, whenFull } = archive
  return `${ring || '0 0'} ${days} ${bytes}${whenFull === 'dropOldest' ? ' d' : ''}`
}

/** '1' if the topic is one of those that a round of notices looks at, else ''. */
export function watchedField({ notices, disableAfterDays }: Partial<TopicSettings>): string {
  return typeof notices === 'string' || disableAfterDays ? '1' : ''
}

/** Subscriptions per slice, read from `slices` of the topic's hash. */
export function parseSlices(text: string | null | undefined, key: string): number[] {
  try {
    const counts: unknown = JSON.parse(text ?? '[]')
    if (Array.isArray(counts) && counts.every((count) => typeof count === 'number')) return counts
  } catch (error) {
    throw new UnreadableRecordError(`${key} slices`, error)
  }
  throw new UnreadableRecordError(`${key} slices`, new TypeError('not a list of numbers'))
}

/** Makes a random revision. It is never repeated, and revisions have no order. */
export function newRevision(): string {
  return randomBytes(9).toString('base64url')
}

/**
 * Pauses before another try of a compare-and-set. The first pauses are 0. Later ones are random, so that many writers
 * get through.
 */
export async function pauseBeforeTry(tries: number): Promise<void> {
  if (tries < 3) return
  await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** tries, 40)))
}
