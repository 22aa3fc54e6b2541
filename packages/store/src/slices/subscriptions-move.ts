/**
 * Moves subscriptions to another endpoint. If topic and slice share a shard, a move is one script. Otherwise the
 * scripts run in the home shard, the slice's shard, and the home shard. The new endpoint is claimed first and the old
 * one freed last. A note lets the sweep finish a move after a crash (topics-repair.ts).
 */
import { formatMessageId, type SubscriptionRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { subscriptionsKey } from '../keys/keys.ts'
import { shardBase } from '../keys/shards.ts'
import { placeOfSubscription, type SubscriptionPlace } from '../records/subscriptions-id.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { outcomeOf } from './script-places.ts'
import { endpointHash, idBytes, subscriptionFields, unpackSubscription } from './subscriptions-record.ts'
import type { Stored } from './subscriptions-stored.ts'
import { newRevision } from './topics-record.ts'

const MOVE = readScript('move-subscription-1')
const CLAIM = readScript('claim-endpoint-1')
const FINISH = readScript('finish-move-1')

type MoveResult =
  | { outcome: 'missing' | 'set' }
  | { outcome: 'changed'; record: string }
  /** Another subscription has the endpoint. */
  | { outcome: 'taken'; id: string }

interface Move {
  stored: Stored
  record: SubscriptionRecord
  text: string
}

export async function moveStored(redis: Redis, move: Move): Promise<MoveResult> {
  const { place } = move.stored
  if (place.shard === place.homeShard) return moveInSlice(redis, move)
  const { entry, oldHash, newHash, oldToken, newToken } = entriesOf(move)
  const base = shardBase(place.homeShard)
  const claim = { base, ...entry, newHash, newToken, revision: newRevision() }
  const claimed = await resultOf(runScript(redis, CLAIM, claim))
  if (claimed.outcome !== 'set') return claimed
  const result = await moveInSlice(redis, move)
  // A move that failed must free the endpoint that it has claimed.
  const [hash, removeToken] = result.outcome === 'set' ? [oldHash, oldToken] : [newHash, newToken]
  const freeHash = oldHash.equals(newHash) ? '' : hash
  await runScript(redis, FINISH, { base, ...entry, freeHash, removeToken, revision: newRevision() })
  return result
}

function moveInSlice(redis: Redis, move: Move): Promise<MoveResult> {
  const { stored, record, text } = move
  const { place } = stored
  const { entry, ...entries } = entriesOf(move)
  const { note: _, ...home } = entry
  const args = {
    ...home,
    ...entries,
    base: shardBase(place.shard),
    shard: place.shard,
    sliceId: place.sliceId,
    id: record.id,
    expected: stored.text,
    record: text,
    expires: subscriptionFields(record).expires,
    revision: newRevision(),
    arn: place.shard === place.homeShard ? record.topicArn : '',
  }
  return resultOf(runScript(redis, MOVE, args))
}

/** The entries of the home shard that a move changes. */
function entriesOf({ stored: { place, record: old }, record }: Move) {
  const sameToken = old.token === record.token
  const [oldHash, newHash] = [hashOf(old), hashOf(record)]
  return {
    entry: entryOf(place, record, [oldHash, newHash]),
    oldHash,
    newHash,
    oldToken: sameToken ? '' : subscriptionFields(old).tokenHash,
    newToken: sameToken ? '' : subscriptionFields(record).tokenHash,
  } as const
}

type Hashes = [oldHash: Buffer, newHash: Buffer]

function entryOf(
  { topicUid: uid }: SubscriptionPlace,
  { id, topicArn: arn }: Pick<SubscriptionRecord, 'id' | 'topicArn'>,
  [oldHash, newHash]: Hashes,
) {
  const note = `move|${arn}|${oldHash.toString('hex')}|${newHash.toString('hex')}|${id}`
  return { arn, uid, rawId: idBytes(id), note }
}

function hashOf({ protocol, endpoint }: SubscriptionRecord): Buffer {
  return endpointHash(protocol, endpoint)
}

async function resultOf(reply: Promise<unknown>): Promise<MoveResult> {
  const { outcome, rest } = await outcomeOf(reply)
  switch (outcome) {
    case 'changed':
      return { outcome, record: String(rest[0]) }
    case 'taken':
      return { outcome, id: formatMessageId(rest[0] ?? Buffer.alloc(16)) }
    case 'missing':
      return { outcome }
    default:
      return { outcome: 'set' }
  }
}

interface MoveNote {
  arn: string
  /** Hex. */
  before: string
  after: string
  id: string
}

/** Frees the endpoint that the subscription does not have. If the subscription is gone, both are freed. */
export async function resumeMove(redis: Redis, { arn, id, ...note }: MoveNote): Promise<void> {
  const place = placeOfSubscription(id)
  if (!place) throw new Error(`a note of ${arn} names ${id}, which is not a subscription id`)
  const key = subscriptionsKey(shardBase(place.shard), place.sliceId)
  const text = await redis.hget(key, id)
  const own = text === null ? undefined : hashOf(unpackSubscription(text, { id, topicArn: arn, key }))
  const hashes: Hashes = [Buffer.from(note.before, 'hex'), Buffer.from(note.after, 'hex')]
  const base = shardBase(place.homeShard)
  const entry = entryOf(place, { id, topicArn: arn }, hashes)
  const unused = hashes.filter((hash) => !own?.equals(hash))
  for (const freeHash of unused.length > 0 ? unused : ['']) {
    await runScript(redis, FINISH, { base, ...entry, freeHash, removeToken: '', revision: newRevision() })
  }
}
