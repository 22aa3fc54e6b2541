/** The scripts that read and write subscriptions, with named results. */
import { formatMessageId } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { readScript, runScript } from '../redis/scripts.ts'
import { SHARD_COUNT, shardBase, shardOf } from '../redis/shards.ts'
import { newRevision } from '../topics/topics-record.ts'
import { createIdDigits, type SubscriptionPlace } from './subscriptions-id.ts'
import { idBytes, type SubscriptionFields } from './subscriptions-record.ts'

const CREATE = readScript('create-subscription-1')
const PLACE = readScript('place-subscription-1')
const FINISH_CREATE = readScript('finish-create-1')
const SETTLE_CREATE = readScript('settle-create-1')
const UPDATE = readScript('update-subscription-1')
const DELETE = readScript('delete-subscription-1')
const REMOVE = readScript('remove-subscription-1')
const FINISH_DELETE = readScript('finish-delete-1')
const LIST_SLICE = readScript('list-slice-1')

/** A new subscription as the scripts take it. */
export interface Placement {
  topicArn: string
  endpointHash: Buffer
  /** The record up to where slot and time follow. */
  open: string
  fields: SubscriptionFields
}

/** A place taken at `now`, with the topic's settings of that moment. */
export interface Reservation {
  id: string
  now: number
  /** Record, version, throttle, retention, overrides. */
  settings: Buffer[]
}

export type CreateResult =
  | { outcome: 'missing' | 'full' }
  | ({ outcome: 'taken' | 'reserved' } & Reservation)
  | { outcome: 'created'; id: string; record: string }

/** How many subscriptions a topic takes. */
export interface Room {
  perSlice: number
  slices: number
}

export async function createSubscription(
  redis: Redis,
  placement: Placement,
  room: Room,
): Promise<CreateResult> {
  const { topicArn, endpointHash, open, fields } = placement
  const shard = shardOf(topicArn)
  const mark = createMark(topicArn, endpointHash.toString('hex'), '')
  const place = [createIdDigits(), newRevision(), room.perSlice, room.slices, SHARD_COUNT]
  const lane = [...laneArgs(fields), fields.tokenHash, shard, fields.mode, fields.floor]
  const args = [topicArn, endpointHash, mark, ...place, open, ...lane]
  const reply = (await runScript(redis, CREATE, [shardBase(shard)], args)) as Buffer[]
  const outcome = String(reply[0])
  if (outcome === 'missing' || outcome === 'full') return { outcome }
  const id = formatMessageId(reply[1] ?? Buffer.alloc(16))
  if (outcome === 'created') return { outcome, id, record: String(reply[2]) }
  const reservation = { id, now: Number(reply[2]), settings: reply.slice(3) }
  return { outcome: outcome === 'taken' ? 'taken' : 'reserved', ...reservation }
}

export type PlaceResult = { outcome: 'late' | 'gone' } | { outcome: 'present' | 'placed'; record: string }

export async function placeSubscription(
  redis: Redis,
  request: { place: SubscriptionPlace; reservation: Reservation; placement: Placement; validMs: number },
): Promise<PlaceResult> {
  const { place, reservation, placement, validMs } = request
  const valid = reservation.now + validMs
  const topic = [placement.topicArn, ...reservation.settings, newRevision()]
  const lane = laneArgs(placement.fields)
  const args = [
    place.sliceId,
    reservation.id,
    valid,
    ...topic,
    placement.open,
    ...lane,
    place.shard,
    placement.fields.mode,
    placement.fields.floor,
  ]
  const [outcome, record] = (await runScript(redis, PLACE, [shardBase(place.shard)], args)) as Buffer[]
  switch (String(outcome)) {
    case 'late':
      return { outcome: 'late' }
    case 'gone':
      return { outcome: 'gone' }
    default:
      return { outcome: String(outcome) === 'placed' ? 'placed' : 'present', record: String(record) }
  }
}

function laneArgs(fields: SubscriptionFields): string[] {
  return [fields.counted, fields.rate, fields.maxInFlight, fields.deadLetters, fields.expires]
}

const createMark = (arn: string, endpointHash: string, id: string) => `create|${arn}|${endpointHash}|${id}`
const deleteMark = (arn: string, endpointHash: string, id: string) => `delete|${arn}|${endpointHash}|${id}`

/** A subscription by what its topic's home shard knows of it. */
export interface HomeEntry {
  place: SubscriptionPlace
  id: string
  arn: string
  endpointHash: Buffer
  tokenHash: Buffer | ''
}

export async function finishCreate(redis: Redis, entry: HomeEntry, stored: boolean): Promise<void> {
  const { place, id, arn, endpointHash, tokenHash } = entry
  const mark = createMark(arn, endpointHash.toString('hex'), id)
  const place1 = [arn, place.topicUid, place.sliceNumber, mark]
  const args = [...place1, endpointHash, idBytes(id), stored ? '1' : '0', tokenHash, newRevision()]
  await runScript(redis, FINISH_CREATE, [shardBase(place.homeShard)], args)
}

/** The record that a creation has stored, or null where it has not and from now on cannot. */
export async function settleCreate(
  redis: Redis,
  place: SubscriptionPlace,
  id: string,
): Promise<string | null> {
  const record = await runScript(redis, SETTLE_CREATE, [shardBase(place.shard)], [place.sliceId, id])
  return record === null ? null : String(record)
}

export interface UpdateSubscription {
  place: SubscriptionPlace
  id: string
  topicArn: string
  expected: string
  record: string
  before: SubscriptionFields
  after: SubscriptionFields
  /** Redis refuses it when memory is full. */
  grows: boolean
}

export type UpdateResult =
  | { outcome: 'missing' }
  | { outcome: 'set' }
  | { outcome: 'changed'; record: string }

export async function updateSubscription(redis: Redis, update: UpdateSubscription): Promise<UpdateResult> {
  const { place, id, topicArn, expected, record, before, after } = update
  const lane = [after.rate, after.maxInFlight, after.paused, after.deadLetters, after.expires]
  const home = place.shard === place.homeShard ? topicArn : ''
  const args = [
    ...[place.sliceId, place.shard, id, expected, record, before.counted, after.counted, ...lane],
    ...[newRevision(), home, place.topicUid, idBytes(id), before.tokenHash, after.tokenHash],
    after.mode,
    update.grows ? '' : '1',
  ]
  const reply = (await runScript(redis, UPDATE, [shardBase(place.shard)], args)) as Buffer[]
  const outcome = String(reply[0])
  if (outcome === 'changed') return { outcome, record: String(reply[1]) }
  return outcome === 'set' ? { outcome } : { outcome: 'missing' }
}

export async function deleteSubscription(
  redis: Redis,
  entry: HomeEntry,
): Promise<'absent' | 'deleted' | 'begun'> {
  const { place, id, arn, endpointHash, tokenHash } = entry
  const mark = deleteMark(arn, endpointHash.toString('hex'), id)
  const args = [
    ...[arn, place.homeShard, place.topicUid, place.sliceNumber, id, idBytes(id), endpointHash, tokenHash],
    ...[newRevision(), SHARD_COUNT, mark],
  ]
  const outcome = String(await runScript(redis, DELETE, [shardBase(place.homeShard)], args))
  return outcome === 'deleted' || outcome === 'begun' ? outcome : 'absent'
}

/** The token that it had ('' for none), or null where it was already gone. */
export async function removeSubscription(
  redis: Redis,
  place: SubscriptionPlace,
  id: string,
): Promise<string | null> {
  const args = [place.sliceId, place.shard, id, newRevision()]
  const token = await runScript(redis, REMOVE, [shardBase(place.shard)], args)
  return token === null ? null : String(token)
}

export async function finishDelete(redis: Redis, entry: HomeEntry): Promise<void> {
  const { place, id, arn, endpointHash, tokenHash } = entry
  const mark = deleteMark(arn, endpointHash.toString('hex'), id)
  const args = [arn, place.topicUid, place.sliceNumber, mark, newRevision(), tokenHash]
  await runScript(redis, FINISH_DELETE, [shardBase(place.homeShard)], args)
}

/** Ids and records of a slice after an id, in the order of ids. */
export async function listSlice(
  redis: Redis,
  list: { sliceId: string; shard: number; after: string; limit: number },
): Promise<{ id: string; text: string }[]> {
  const args = [list.sliceId, list.after, list.limit]
  const reply = (await runScript(redis, LIST_SLICE, [shardBase(list.shard)], args)) as Buffer[]
  return pairs(reply)
}

/** [id, record, id, record, …] as a list of both. */
export function pairs(reply: Buffer[]): { id: string; text: string }[] {
  const found: { id: string; text: string }[] = []
  for (let i = 0; i + 1 < reply.length; i += 2) {
    found.push({ id: String(reply[i]), text: String(reply[i + 1]) })
  }
  return found
}
