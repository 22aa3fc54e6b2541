/**
 * A subscription's id contains its place, so no index is needed to find it. An entry in a sorted set of places would
 * cost about 200 bytes, a third of a subscription's memory.
 *
 * The id is a UUID of version 8 (RFC 9562 §5.8), `tttttttt-tttt-8ttt-Vsss-srrrrrrrrrrr`. `t` is the topic's uid, `s`
 * the number of the slice. `r` and two bits of `V` are random. A topic's uid has 15 hex digits, of which the first two
 * are its home shard.
 */
import { randomBytes } from 'node:crypto'
import { SHARD_COUNT } from '../keys/shards.ts'

export interface SubscriptionPlace {
  topicUid: string
  homeShard: number
  sliceNumber: number
  sliceId: string
  /** The slice's shard, which holds the record and the lane. */
  shard: number
}

const ID = /^([0-9a-f]{8})-([0-9a-f]{4})-8([0-9a-f]{3})-[89ab]([0-9a-f]{3})-([0-9a-f])[0-9a-f]{11}$/

/** The place of the subscription with this id, if it exists. undefined: the text is not the id of a subscription. */
export function placeOfSubscription(id: string): SubscriptionPlace | undefined {
  const match = ID.exec(id)
  if (!match) return undefined
  const [, a = '', b = '', c = '', high = '', low = ''] = match
  const topicUid = a + b + c
  const homeShard = homeShardOf(topicUid)
  if (homeShard >= SHARD_COUNT) return undefined
  const sliceNumber = Number.parseInt(high + low, 16)
  const shard = (homeShard + sliceNumber) % SHARD_COUNT
  return { topicUid, homeShard, sliceNumber, sliceId: `${topicUid}.${sliceNumber}`, shard }
}

/** Slices of a topic, as an id can number no more. Past it: subscribing is refused. */
export const SLICES_MAX = 0x10000

export function homeShardOf(topicUid: string): number {
  return Number.parseInt(topicUid.slice(0, 2), 16)
}

/** A new uid for a topic. It has its home shard and 52 random bits. */
export function createTopicUid(homeShard: number): string {
  return homeShard.toString(16).padStart(2, '0') + randomBytes(7).toString('hex').slice(1)
}

/** The random digits of a new id: the variant digit and eleven more. */
export function createIdDigits(): string {
  const hex = randomBytes(6).toString('hex')
  return (8 + (Number.parseInt(hex.slice(0, 1), 16) & 3)).toString(16) + hex.slice(1)
}
