/** Lanes for tests, written as keys.ts describes them. They have no topic or subscription record. */
import { randomUUID } from 'node:crypto'
import { createMessageId } from '@fantail/contracts'
import { skewKey } from '@fantail/test-kit'
import type { Redis } from 'ioredis'
import { dueKey, laneKey, messageKey, sliceKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { includedBy } from '../scripts/lua-files.ts'
import { withNames } from '../scripts/lua-names.ts'
import type { Lanes } from './lanes.ts'
import { deliveryId } from './records/generations.ts'
import type { ParkAs, ParkEntry, TakeRequest } from './records/lane-records.ts'

export const SHARD = 7
export const BASE = shardBase(SHARD)
export const SLICE = 'topic-uid.0'

export interface LaneSettings {
  rate?: number
  maxInFlight?: number
  paused?: boolean
  gone?: boolean
  deadLetters?: boolean
  /** Whether the endpoint is proven; default true. */
  proven?: boolean
  /** Retry mode and circuit breaker. */
  mode?: string
  /** The least time for which deliveries are kept. */
  floorSeconds?: number
  /** Rates of message groups, as group-rate.lua reads them. */
  groupRates?: string
}

export async function writeSlice(
  redis: Redis,
  { rate = '' as number | '', retentionSeconds = 345_600 } = {},
) {
  const fields = { rev: 'revision-1', rate: String(rate), ret: String(retentionSeconds), ovr: '' }
  await redis.hset(sliceKey(BASE, SLICE), fields)
}

/** Creates a lane, or changes the settings of one. */
export async function writeLane(redis: Redis, settings: LaneSettings = {}, id: string = randomUUID()) {
  await redis.hset(laneKey(BASE, id), {
    s: SLICE,
    r: settings.rate ?? '',
    c: settings.maxInFlight ?? 32,
    p: settings.paused ? '1' : '',
    g: settings.gone ? '1' : '',
    q: settings.deadLetters ? '1' : '',
    ...(settings.proven !== false && { a: '1' }),
    ...(settings.mode && { m: settings.mode }),
    ...(settings.groupRates && { gr: settings.groupRates }),
    l: settings.floorSeconds ?? 0,
  })
  return id
}

const CHANGE = withNames(
  'a change of a lane',
  `${includedBy('-- @include now\n-- @include lane-next\n').join('')}
redis.call('HSET', KEYS[1] .. 'lane:' .. ARGV[1], ARGV[2], ARGV[3])
lane_next(KEYS[1], ARGV[1], now_ms(KEYS[1]))`,
)

/** Changes a setting and recomputes the lane's due time in one step, like the scripts of subscriptions. */
export async function changeLane(redis: Redis, id: string, field: string, value: string) {
  await redis.eval(CHANGE, 1, BASE, id, field, value)
}

/** Deletes the lane as the delete script does. Takes discard it. */
export async function deleteLane(redis: Redis, id: string) {
  await redis.hset(laneKey(BASE, id), 'g', '1')
  await redis.zadd(dueKey(BASE), 0, id)
}

/** Sets how far Redis's time is ahead of the clock. */
export async function skew(redis: Redis, ms: number) {
  await redis.set(skewKey(BASE), ms)
}

export interface TestMessage {
  messageId: string
  id: Buffer
  body: string
  groupId?: string | undefined
}

export function makeMessage(publishedAt = Date.now(), text = 'hello', groupId?: string): TestMessage {
  const messageId = createMessageId(publishedAt)
  return { messageId, id: deliveryId(messageId), body: JSON.stringify({ messageId, message: text }), groupId }
}

/** Parks every message in every lane, without a job or fence. */
export async function parkAll(lanes: Lanes, ids: string[], messages: TestMessage[], park?: ParkAs) {
  const as: ParkAs = park ?? { as: 'fresh' }
  const entries: ParkEntry[] = ids.flatMap((subscriptionId) =>
    messages.map(({ id }, message) => ({ subscriptionId, delivery: id, message, park: as })),
  )
  const { jobs } = await lanes.park(SHARD, {
    messages,
    jobs: [{ jobName: '', fence: 0, fields: [], entries }],
  })
  const [job] = jobs
  if (job === undefined || job.stale) throw new Error('an entry without a job cannot be stale')
  return job
}

/** Takes without limits, unless the request sets them. */
export async function takeFrom(lanes: Lanes, request: Partial<TakeRequest> = {}) {
  const all = {
    lanesMax: 100,
    deliveriesMax: 1_000,
    leaseMs: 20_000,
    limits: new Map<string, number>(),
  }
  return lanes.take(SHARD, { ...all, ...request })
}

/** Every claim of a take, each with its subscription. */
export function claimsOf(taken: Awaited<ReturnType<typeof takeFrom>>) {
  return taken.lanes.flatMap(({ subscriptionId, claims }) =>
    claims.map((claim) => ({ subscriptionId, ...claim })),
  )
}

/** How many deliveries refer to the stored body. */
export async function referencesTo(redis: Redis, message: TestMessage): Promise<number> {
  const key = Buffer.concat([Buffer.from(`${BASE}msg:`), message.id])
  return Number((await redis.hget(key, 'n')) ?? 0)
}

/** The stored hashes of messages, read in one round trip. */
export async function storedMessages(redis: Redis, ids: Buffer[]): Promise<Record<string, string>[]> {
  return Promise.all(ids.map((id) => redis.hgetall(messageKey(BASE, id))))
}

/** Names of all keys of the shard, without those that are never deleted or soon expire. */
export async function keysLeft(redis: Redis): Promise<string[]> {
  const lasting = ['counts', 'leases:given', 'skew', `slice:${SLICE}`].map((name) => BASE + name)
  const keys = await redis.keys(`${BASE}*`)
  const expires = (key: string) => key.startsWith(`${BASE}outcomes:`) || key.startsWith(`${BASE}tats:`)
  return keys.filter((key) => !lasting.includes(key) && !expires(key)).sort()
}
