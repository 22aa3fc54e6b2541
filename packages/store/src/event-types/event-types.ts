/**
 * The catalogues of event types: a hash for each topic that has one, in the topic's home shard. The topic's hash has
 * the revision of the catalogue, so that caches see every change, and a topic without a catalogue costs nothing.
 */
import { EVENT_TYPES_MAX, type EventTypeRecord, FantailError } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { eventTypesKey, topicKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, type OnUnreadable } from '../redis/unreadable.ts'
import { newRevision } from '../slices/topics-record.ts'

const PUT = readScript('put-event-type-1')
const DELETE = readScript('delete-event-type-1')

/** @limit Records of a topic's event types together, with all versions. Past it: `conflict`. */
const EVENT_CATALOGUE_BYTES_MAX = 2_097_152
/** Tries to change an event type that others change at the same time. Past it: `conflict`. */
const EVENT_TYPE_TRIES_MAX = 20

interface EventTypesOptions {
  growth?: GrowthGuard
  /** Called with a record that cannot be read. The others are listed. */
  onUnreadable?: OnUnreadable
}

/** Computes the new record from the present one. It is called again if another writer came first. */
type EventTypeChange = (before: EventTypeRecord | null) => EventTypeRecord | Promise<EventTypeRecord>

export class EventTypes {
  readonly #redis: Redis
  readonly #growth: GrowthGuard
  readonly #onUnreadable: OnUnreadable

  constructor(redis: Redis, { growth = UNGUARDED, onUnreadable = () => undefined }: EventTypesOptions = {}) {
    this.#redis = redis
    this.#growth = growth
    this.#onUnreadable = onUnreadable
  }

  /** Sorted by name. Throws `not_found` without the topic. */
  async list(arn: string): Promise<EventTypeRecord[]> {
    const key = keyOf(arn, await this.#uidOf(arn))
    const stored = await this.#redis.hgetall(key)
    const types = Object.entries(stored).flatMap(([name, text]) =>
      ifReadable(
        () => parse(text, key, name),
        (error) => this.#onUnreadable(error, error.key),
      ),
    )
    return types.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Throws `not_found` without the topic. */
  async names(arn: string): Promise<string[]> {
    return this.#redis.hkeys(keyOf(arn, await this.#uidOf(arn)))
  }

  /** Throws `not_found` without the topic. */
  async get(arn: string, name: string): Promise<EventTypeRecord | null> {
    return (await this.#read(arn, await this.#uidOf(arn), name))?.record ?? null
  }

  /** The type in the catalogue of the topic with this uid, in one round trip. */
  async of(arn: string, uid: string, name: string): Promise<EventTypeRecord | null> {
    return (await this.#read(arn, uid, name))?.record ?? null
  }

  /** Stores the record that `change` returns. Throws `not_found`, `storage_full`, or `conflict` past a bound. */
  async put(
    arn: string,
    name: string,
    change: EventTypeChange,
  ): Promise<{ record: EventTypeRecord; created: boolean }> {
    for (let tries = 0; tries < EVENT_TYPE_TRIES_MAX; tries++) {
      const uid = await this.#uidOf(arn)
      const before = await this.#read(arn, uid, name)
      const record = await change(before?.record ?? null)
      const text = sumRecord(record)
      if (text === before?.text) return { record, created: false }
      if (await this.#put({ arn, uid, name, expected: before?.text ?? '', record: text }))
        return { record, created: before === null }
    }
    throw new FantailError('conflict', `event type ${name} is being changed by others`)
  }

  /** Deletes the type, if it exists. Throws `not_found` without the topic. */
  async delete(arn: string, name: string): Promise<void> {
    const uid = await this.#uidOf(arn)
    const args = { base: shardBase(shardOf(arn)), arn, uid, name, revision: newRevision() }
    await runScript(this.#redis, DELETE, args)
  }

  /** False: another writer came first. */
  async #put(put: {
    arn: string
    uid: string
    name: string
    expected: string
    record: string
  }): Promise<boolean> {
    await admitLonger(this.#growth, put.expected === '' ? null : put.expected, put.record)
    const bounds = { typesMax: EVENT_TYPES_MAX, bytesMax: EVENT_CATALOGUE_BYTES_MAX }
    const args = { base: shardBase(shardOf(put.arn)), ...put, ...bounds, revision: newRevision() }
    switch (String(await runScript(this.#redis, PUT, args))) {
      case 'put':
        return true
      case 'many':
        throw new FantailError('conflict', `a topic has at most ${EVENT_TYPES_MAX} event types`)
      case 'large':
        throw new FantailError('conflict', `the event types of a topic have at most ${BYTES}`)
      default:
        return false
    }
  }

  async #uidOf(arn: string): Promise<string> {
    const uid = await this.#redis.hget(topicKey(arn), 'uid')
    if (!uid) throw new FantailError('not_found', 'no such topic')
    return uid
  }

  async #read(
    arn: string,
    uid: string,
    name: string,
  ): Promise<{ record: EventTypeRecord; text: string } | null> {
    const key = keyOf(arn, uid)
    const text = await this.#redis.hget(key, name)
    return text === null ? null : { record: parse(text, key, name), text }
  }
}

const BYTES = `${EVENT_CATALOGUE_BYTES_MAX} bytes together, all versions included`

function keyOf(arn: string, uid: string): string {
  return eventTypesKey(shardBase(shardOf(arn)), uid)
}

function parse(text: string, key: string, name: string): EventTypeRecord {
  const record = parseRecord(text, `${key} ${name}`) as unknown as EventTypeRecord
  if (record.name === name) return record
  throw new UnreadableRecordError(`${key} ${name}`, new TypeError(`the record is of ${record.name}`), text)
}
