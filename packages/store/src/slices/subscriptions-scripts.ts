/** The scripts that read and write subscriptions, with named results. */
import { formatMessageId, type SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SHARD_COUNT, shardBase } from '../keys/shards.ts'
import { createIdDigits, type SubscriptionPlace } from '../records/subscriptions-id.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { atHome, atSlice, outcomeOf, type SlicePlace } from './script-places.ts'
import { endpointHash, idBytes, type SubscriptionFields, subscriptionFields } from './subscriptions-record.ts'
import { newRevision } from './topics-record.ts'

const CREATE = readScript('create-subscription-1')
const PLACE = readScript('place-subscription-1')
const FINISH_CREATE = readScript('finish-create-1')
const SETTLE_CREATE = readScript('settle-create-1')
const UPDATE = readScript('update-subscription-1')
const DELETE = readScript('delete-subscription-1')
const REMOVE = readScript('remove-subscription-1')
const FINISH_DELETE = readScript('finish-delete-1')
const LIST_SLICE = readScript('list-slice-1')

/** A new subscription in the form for scripts. */
export interface Placement {
  topicArn: string
  endpointHash: Buffer
  /** The record's JSON without its end. Bit and time are appended to it. */
  open: string
  fields: SubscriptionFields
}

/** A place that was taken at `now`, with the topic's settings at that time. */
export interface Reservation {
  id: string
  now: number
  /** Record, version, rate, retention, overrides. */
  settings: Buffer[]
}

type CreateResult =
  | { outcome: 'missing' | 'full' | 'late' }
  | ({ outcome: 'taken' | 'reserved' } & Reservation)
  | { outcome: 'created'; id: string; record: string }

export interface CreateLimits {
  /** The most subscriptions of a slice, and slices of a topic. */
  perSlice: number
  slices: number
  /** When the creation is too late for its quota, ms. null: never. */
  validUntil: number | null
}

export async function createSubscription(
  redis: Redis,
  placement: Placement,
  { perSlice, slices: slicesMax, validUntil }: CreateLimits,
): Promise<CreateResult> {
  const { topicArn, endpointHash, open, fields } = placement
  const reply = runScript(redis, CREATE, {
    ...atHome(topicArn),
    endpointHash,
    note: createNote(topicArn, endpointHash.toString('hex'), ''),
    digits: createIdDigits(),
    revision: newRevision(),
    perSlice,
    slicesMax,
    validUntil,
    shards: SHARD_COUNT,
    open,
    ...laneOf(fields),
    tokenHash: fields.tokenHash,
  })
  const { outcome, rest } = await outcomeOf(reply)
  if (outcome === 'missing' || outcome === 'full' || outcome === 'late') return { outcome }
  const [rawId = Buffer.alloc(16), recordOrNow, ...settings] = rest
  const id = formatMessageId(rawId)
  if (outcome === 'created') return { outcome, id, record: String(recordOrNow) }
  const reservation = { id, now: Number(recordOrNow), settings }
  return { outcome: outcome === 'taken' ? 'taken' : 'reserved', ...reservation }
}

type PlaceResult = { outcome: 'late' | 'gone' } | { outcome: 'present' | 'placed'; record: string }

export async function placeSubscription(
  redis: Redis,
  request: { place: SubscriptionPlace; reservation: Reservation; placement: Placement; validMs: number },
): Promise<PlaceResult> {
  const { place, reservation, placement, validMs } = request
  const [record = '', version = '', rate = '', retention = '', overrides = ''] = reservation.settings
  const reply = runScript(redis, PLACE, {
    ...atSlice(place),
    id: reservation.id,
    validUntil: reservation.now + validMs,
    arn: placement.topicArn,
    topicRecord: record,
    topicVersion: version,
    topicRate: rate,
    topicRetention: retention,
    topicOverrides: overrides,
    revision: newRevision(),
    open: placement.open,
    ...laneOf(placement.fields),
  })
  const { outcome, rest } = await outcomeOf(reply)
  if (outcome === 'late' || outcome === 'gone') return { outcome }
  return { outcome: outcome === 'placed' ? 'placed' : 'present', record: String(rest[0]) }
}

/** The arguments for a new subscription's lane and counts. */
function laneOf({ counted, ...fields }: SubscriptionFields) {
  return { status: counted, ...fields }
}

const createNote = (arn: string, endpointHash: string, id: string) => `create|${arn}|${endpointHash}|${id}`
const deleteNote = (arn: string, endpointHash: string, id: string) => `delete|${arn}|${endpointHash}|${id}`

/** The data of a subscription that its topic's home shard has. */
export interface HomeEntry {
  place: SubscriptionPlace
  id: string
  arn: string
  endpointHash: Buffer
  tokenHash: Buffer | ''
}

export async function finishCreate(redis: Redis, entry: HomeEntry, stored: boolean): Promise<void> {
  const note = createNote(entry.arn, entry.endpointHash.toString('hex'), entry.id)
  await runScript(redis, FINISH_CREATE, { ...homeArgs(entry), note, stored })
}

/** The record that a creation has stored. null: it has not, and cannot any more. */
export async function settleCreate(
  redis: Redis,
  place: SubscriptionPlace,
  id: string,
): Promise<string | null> {
  const record = await runScript(redis, SETTLE_CREATE, { ...atSlice(place), id })
  return record === null ? null : String(record)
}

interface UpdateSubscription {
  place: SubscriptionPlace
  id: string
  topicArn: string
  expected: string
  record: string
  before: SubscriptionFields
  after: SubscriptionFields
  /** The change grows the record, so Redis refuses it when memory is full. */
  grows: boolean
}

type UpdateResult = { outcome: 'missing' } | { outcome: 'set' } | { outcome: 'changed'; record: string }

export async function updateSubscription(redis: Redis, update: UpdateSubscription): Promise<UpdateResult> {
  const { place, id, topicArn, expected, record, before, after } = update
  const { counted, tokenHash, ...lane } = after
  const { slice, ...at } = atSlice(place)
  const reply = runScript(redis, UPDATE, {
    ...at,
    sliceId: slice,
    id,
    expected,
    record,
    wasCounted: before.counted,
    counted,
    ...lane,
    revision: newRevision(),
    arn: place.shard === place.homeShard ? topicArn : '',
    uid: place.topicUid,
    rawId: idBytes(id),
    oldToken: before.tokenHash,
    newToken: tokenHash,
    runsWhenFull: !update.grows,
  })
  const { outcome, rest } = await outcomeOf(reply)
  if (outcome === 'changed') return { outcome, record: String(rest[0]) }
  return outcome === 'set' ? { outcome } : { outcome: 'missing' }
}

export async function deleteSubscription(
  redis: Redis,
  entry: HomeEntry,
  endpoint: string,
): Promise<'absent' | 'moved' | 'deleted' | 'begun'> {
  const { id, arn, endpointHash } = entry
  const note = deleteNote(arn, endpointHash.toString('hex'), id)
  const args = { ...homeArgs(entry), note, id, endpoint, shards: SHARD_COUNT }
  const outcome = String(await runScript(redis, DELETE, args))
  return outcome === 'deleted' || outcome === 'begun' || outcome === 'moved' ? outcome : 'absent'
}

/** The removed record. null: it was already gone. */
export async function removeSubscription(
  redis: Redis,
  place: SubscriptionPlace,
  id: string,
): Promise<string | null> {
  const record = await runScript(redis, REMOVE, { ...atSlice(place), id, revision: newRevision() })
  return record === null ? null : String(record)
}

/**
 * `entry`: the data at the beginning of the deletion. `last`: the record that was removed; null if it was already gone.
 */
export async function finishDelete(
  redis: Redis,
  entry: Omit<HomeEntry, 'tokenHash'>,
  last: SubscriptionRecord | null,
): Promise<void> {
  const note = deleteNote(entry.arn, entry.endpointHash.toString('hex'), entry.id)
  const tokenHash = last ? subscriptionFields(last).tokenHash : ''
  const lastEndpoint = last ? endpointHash(last.protocol, last.endpoint) : ''
  const args = { ...homeArgs({ ...entry, tokenHash }), endpointHash: lastEndpoint, note }
  await runScript(redis, FINISH_DELETE, args)
}

/** The common arguments of scripts in the topic's home shard. */
function homeArgs({ place, id, arn, endpointHash, tokenHash }: HomeEntry) {
  return {
    base: shardBase(place.homeShard),
    shard: place.homeShard,
    arn,
    uid: place.topicUid,
    sliceNumber: place.sliceNumber,
    rawId: idBytes(id),
    endpointHash,
    tokenHash,
    revision: newRevision(),
  }
}

/** Ids and records of a slice after `after`, in the order of ids. */
export async function listSlice(
  redis: Redis,
  list: SlicePlace & { after: string; limit: number },
): Promise<{ id: string; text: string }[]> {
  const { after, limit } = list
  const reply = (await runScript(redis, LIST_SLICE, { ...atSlice(list), after, limit })) as Buffer[]
  return pairs(reply)
}

/** Turns [id, record, id, record, …] into a list of pairs. */
function pairs(reply: Buffer[]): { id: string; text: string }[] {
  const found: { id: string; text: string }[] = []
  for (let i = 0; i + 1 < reply.length; i += 2) {
    found.push({ id: String(reply[i]), text: String(reply[i + 1]) })
  }
  return found
}
