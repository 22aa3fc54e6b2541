/**
 * Statistics in Redis: what each topic, subscription and account published and delivered, by minute for 24 hours and by
 * hour for 30 days. All of them have one hash tag, so a process writes its counts by one script.
 */
import type { Redis } from 'ioredis'
import { STATS_BASE, statsHoursKey, statsMinutesKey, statsSeatsKey, statsWeekKey } from '../keys/keys.ts'
import { batch } from '../redis/batch.ts'
import { replies } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { percentile } from './log-buckets.ts'
import { addCounts, type PackedCounts } from './tally.ts'
import { type WeekFigures, weekFigures } from './week-figures.ts'

const ADD = readScript('add-stats-1')

/** A topic, a subscription, an account with all its topics, or a subscription by week. */
export type SeriesKind = 't' | 's' | 'a' | 'w'

/**
 * A topic that counts in every minute of a month takes about 80 KB of Redis. With many different times it takes up to
 * 300 KB.
 * @limit memory (Redis) Topics with statistics of their own. Past it: further topics count only for their account.
 */
const TOPIC_SEATS = 500
/** @limit memory (Redis) Subscriptions with statistics. Past it: further subscriptions count only for their topic. */
const SUBSCRIPTION_SEATS = 500
/**
 * With counts in every hour a week takes some 2 KB.
 * @limit memory (Redis) Subscriptions with a week of figures. Past it: further ones have none.
 */
const WEEK_SEATS = 10_000
/** @limit memory (Redis) Accounts with statistics. Past it: further accounts have none. */
const ACCOUNT_SEATS = 100
const SEATS: Record<SeriesKind, number> = {
  t: TOPIC_SEATS,
  s: SUBSCRIPTION_SEATS,
  a: ACCOUNT_SEATS,
  w: WEEK_SEATS,
}

/** Counts of one series in one minute. */
export interface Counted {
  kind: SeriesKind
  name: string
  /** Since 1970. */
  minute: number
  /** For a week they are `weekCounts`. */
  counts: PackedCounts
}

interface Flush {
  /** Id of the process. */
  writer: string
  /** The number of the flush. It is higher than all earlier ones. A repeated flush is not added again. */
  flush: number
  /** Epoch ms. */
  now: number
  counted: Counted[]
}

interface StatsRequest {
  kind: SeriesKind
  /** Their sums are read. */
  names: readonly string[]
  step: 'minute' | 'hour'
  steps: number
  /** Epoch ms in the last step. */
  now: number
}

/** Each list has an entry per step, oldest first. */
export interface Stats {
  stepMs: number
  /** Epoch ms at which each step begins. */
  at: number[]
  published: number[]
  delivered: number[]
  failed: number[]
  deadLettered: number[]
  /** null: nothing was delivered in this step. */
  p50Ms: (number | null)[]
  p99Ms: (number | null)[]
}

/** Hours and days after which the counts of minutes and hours have expired. */
const HOURS_KEPT = 26
const DAYS_KEPT = 32

const STEP = {
  minute: { stepMs: 60_000, perKey: 60, key: statsMinutesKey },
  hour: { stepMs: 3_600_000, perKey: 24, key: statsHoursKey },
}

export function seriesKey(kind: SeriesKind, name: string): string {
  return `${kind}:${name}`
}

export class StatsStore {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Returns the counts for which no seat was free. They were not added. */
  async add({ counted, ...flush }: Flush): Promise<Counted[]> {
    const positions = await runScript(this.#redis, ADD, {
      base: STATS_BASE,
      ...flush,
      counted: counted.map(({ counts, ...series }) => ({
        ...series,
        seats: SEATS[series.kind],
        added: JSON.stringify(counts),
      })),
    })
    return (positions as number[]).flatMap((position) => counted[position - 1] ?? [])
  }

  /** Takes one round trip, and one command per name and 60 minutes or 24 hours. */
  async read({ kind, names, step, steps, now }: StatsRequest): Promise<Stats> {
    const { stepMs, perKey, key } = STEP[step]
    const last = Math.floor(now / stepMs)
    const first = last - steps + 1
    const sums = new Map<number, PackedCounts>()
    const pipeline = batch(this.#redis)
    const asked: number[] = []
    for (const name of names) {
      for (let part = Math.floor(first / perKey); part <= Math.floor(last / perKey); part++) {
        pipeline.hgetallBuffer(key(kind, name, part))
        asked.push(part * perKey)
      }
    }
    if (asked.length > 0) {
      const found = (await replies(pipeline)) as Record<string, Buffer>[]
      for (const [i, fields] of found.entries()) addFields(sums, fields, asked[i] ?? 0)
    }
    return statsOf(sums, { first, steps, stepMs })
  }

  /** The hours of a subscription in the week up to now. */
  async week(subscriptionId: string, now: number): Promise<WeekFigures> {
    const stored = await this.#redis.getBuffer(statsWeekKey(subscriptionId))
    return weekFigures(stored ? unpackNumbers(stored) : [], now)
  }

  /** Whether the counts of this topic or subscription are kept: it has a seat, or there are free seats. */
  async isKept(kind: SeriesKind, name: string): Promise<boolean> {
    const seats = statsSeatsKey(kind)
    const [score, taken] = await replies(batch(this.#redis).zscore(seats, name).zcard(seats))
    return score !== null || Number(taken) < SEATS[kind]
  }

  /** Erases everything that was counted for these topics or subscriptions. `now`: epoch ms. */
  async erase(kind: SeriesKind, names: readonly string[], now: number): Promise<void> {
    const hour = Math.floor(now / STEP.hour.stepMs)
    const day = Math.floor(hour / STEP.hour.perKey)
    for (const name of names) {
      const pipeline = batch(this.#redis).zrem(statsSeatsKey(kind), name)
      if (kind === 's') pipeline.zrem(statsSeatsKey('w'), name).unlink(statsWeekKey(name))
      for (let ago = 0; ago <= HOURS_KEPT; ago++) pipeline.unlink(statsMinutesKey(kind, name, hour - ago))
      for (let ago = 0; ago <= DAYS_KEPT; ago++) pipeline.unlink(statsHoursKey(kind, name, day - ago))
      await replies(pipeline)
    }
  }

  /** Names of all topics with a seat, those with the latest counts first. */
  topics(): Promise<string[]> {
    return this.#redis.zrevrange(statsSeatsKey('t'), 0, TOPIC_SEATS - 1)
  }
}

function addFields(sums: Map<number, PackedCounts>, fields: Record<string, Buffer>, from: number): void {
  for (const [field, packed] of Object.entries(fields)) {
    const step = from + Number(field)
    const counts = unpackNumbers(packed)
    const sum = sums.get(step)
    if (sum) addCounts(sum, counts)
    else sums.set(step, counts)
  }
}

function statsOf(
  sums: Map<number, PackedCounts>,
  { first, steps, stepMs }: { first: number; steps: number; stepMs: number },
): Stats {
  const all = Array.from({ length: steps }, (_, i) => sums.get(first + i) ?? [])
  const times = all.map(timesOf)
  return {
    stepMs,
    at: all.map((_, i) => (first + i) * stepMs),
    published: all.map((counts) => counts[0] ?? 0),
    delivered: all.map((counts) => counts[1] ?? 0),
    failed: all.map((counts) => counts[2] ?? 0),
    deadLettered: all.map((counts) => counts[3] ?? 0),
    p50Ms: times.map((counts) => percentile(counts, 0.5)),
    p99Ms: times.map((counts) => percentile(counts, 0.99)),
  }
}

function timesOf(counts: PackedCounts): Map<number, number> {
  const times = new Map<number, number>()
  for (let i = 4; i < counts.length; i += 2) times.set(counts[i] ?? 0, counts[i + 1] ?? 0)
  return times
}

/** Reads an array of whole numbers that a script packed by `cmsgpack` (msgpack.org). */

const FIXED_ARRAY = 0x90
const ARRAY_16 = 0xdc
const UNSIGNED_8 = 0xcc
const UNSIGNED_16 = 0xcd
const UNSIGNED_32 = 0xce
const UNSIGNED_64 = 0xcf

/** Throws for anything else. */
export function unpackNumbers(packed: Buffer): number[] {
  const head = packed.readUInt8(0)
  const isLong = head === ARRAY_16
  if (!isLong && head >> 4 !== FIXED_ARRAY >> 4) throw new Error('packed numbers do not begin with an array')
  const count = isLong ? packed.readUInt16BE(1) : head - FIXED_ARRAY
  const numbers: number[] = []
  let at = isLong ? 3 : 1
  for (let i = 0; i < count; i++) {
    const { value, bytes } = readNumber(packed, at)
    numbers.push(value)
    at += bytes
  }
  return numbers
}

function readNumber(packed: Buffer, at: number): { value: number; bytes: number } {
  const kind = packed.readUInt8(at)
  switch (kind) {
    case UNSIGNED_8:
      return { value: packed.readUInt8(at + 1), bytes: 2 }
    case UNSIGNED_16:
      return { value: packed.readUInt16BE(at + 1), bytes: 3 }
    case UNSIGNED_32:
      return { value: packed.readUInt32BE(at + 1), bytes: 5 }
    case UNSIGNED_64:
      return { value: Number(packed.readBigUInt64BE(at + 1)), bytes: 9 }
    default:
      if (kind >= 0x80) throw new Error(`packed numbers have the kind ${kind.toString(16)}`)
      return { value: kind, bytes: 1 }
  }
}
