/** Stored JSON, read with an error that names its key; a topic's record and what scripts need of it. */

import { randomBytes } from 'node:crypto'
import { isObject, RETENTION_SECONDS_DEFAULT, type TopicRecord } from '@fantail/contracts'

/** What a caller may set; everything else of a TopicRecord is the store's. */
export type TopicSettings = Pick<
  TopicRecord,
  | 'displayName'
  | 'deliveryPolicy'
  | 'disableSubscriptionOverrides'
  | 'retentionSeconds'
  | 'signing'
  | 'contentBasedDeduplication'
  | 'fifoThroughputScope'
  | 'tags'
  | 'attributes'
>

export const TOPIC_DEFAULTS: TopicSettings = {
  displayName: '',
  deliveryPolicy: null,
  disableSubscriptionOverrides: false,
  retentionSeconds: RETENTION_SECONDS_DEFAULT,
  signing: 'none',
  attributes: {},
}

const SETTINGS = [
  ...(Object.keys(TOPIC_DEFAULTS) as (keyof TopicSettings)[]),
  'contentBasedDeduplication',
  'fifoThroughputScope',
  'tags',
] as const

/** Stored text that is not what was written there: a defect or a foreign hand, never a user's mistake. */
export class CorruptRecordError extends Error {
  readonly key: string

  constructor(key: string, cause: unknown) {
    super(`corrupt JSON in ${key}`, { cause })
    this.name = 'CorruptRecordError'
    this.key = key
  }
}

/** An object's JSON; `key` says where it is stored. */
export function parseStored(text: string, key: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CorruptRecordError(key, error)
  }
  if (isObject(value)) return value
  throw new CorruptRecordError(key, new TypeError('not an object'))
}

export function parseTopic(text: string, key: string): TopicRecord {
  const record = parseStored(text, key)
  if (typeof record.arn !== 'string' || typeof record.uid !== 'string') {
    throw new CorruptRecordError(key, new TypeError('not a topic'))
  }
  return record as unknown as TopicRecord
}

/** The settings that scripts read beside the record: throttle, retention, overrides. */
export function topicFields(settings: TopicSettings): [string, string, string] {
  const rate = settings.deliveryPolicy?.throttlePolicy?.maxReceivesPerSecond
  return [
    rate === undefined ? '' : String(rate),
    String(settings.retentionSeconds),
    settings.disableSubscriptionOverrides ? '1' : '',
  ]
}

/** The members of `set` that are given. */
export function givenSettings(set: Partial<TopicSettings>): Partial<TopicSettings> {
  const given = SETTINGS.filter((name) => set[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, set[name]]))
}

/** Subscriptions per slice, from the topic hash's `slices`. */
export function parseSlices(text: string | null | undefined, key: string): number[] {
  try {
    const counts: unknown = JSON.parse(text ?? '[]')
    if (Array.isArray(counts) && counts.every((count) => typeof count === 'number')) return counts
  } catch (error) {
    throw new CorruptRecordError(`${key} slices`, error)
  }
  throw new CorruptRecordError(`${key} slices`, new TypeError('not a list of numbers'))
}

/** JSON of an object up to where a script appends more members. */
export function openJson(value: object): string {
  return JSON.stringify(value).slice(0, -1)
}

/** A revision: never the same twice, in no order. */
export function newRevision(): string {
  return randomBytes(9).toString('base64url')
}

/** Before another try of a compare-and-set: at once at first, then a random pause, so that many writers get through. */
export async function pauseBeforeTry(tries: number): Promise<void> {
  if (tries < 3) return
  await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** tries, 40)))
}
