/** Stores platform applications, which hold the credentials of mobile push. Each is in the shard of its ARN. */
import { FantailError, type PlatformApplicationRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { platformApplicationKey, platformApplicationsKey } from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { batch } from '../redis/batch.ts'
import {
  decodeCursor,
  encodeCursor,
  listNames,
  type Page,
  readableReplies,
  readToEnd,
} from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, type OnUnreadable } from '../redis/unreadable.ts'

const PUT = readScript('put-platform-app-1')
const DELETE = readScript('delete-platform-app-1')

/** Tries to change a record of mobile push that others change at the same time. Past it: `conflict`. */
export const PUSH_RECORD_TRIES_MAX = 100

interface ListApplications {
  /** Prefix of the ARN; default: all. */
  arnPrefix?: string
  cursor?: string | undefined
  limit: number
  /** Called with the key of an application that cannot be read. The others are listed. */
  onUnreadable?: OnUnreadable
}

/** Applications whose records a sweep reads at a time. Past it: the others follow. */
const APPLICATIONS_SWEPT_AT_ONCE = 500

type ApplicationChange = (current: PlatformApplicationRecord) => PlatformApplicationRecord

export class PlatformApplications {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /** An existing application stays unchanged. */
  async create(
    record: PlatformApplicationRecord,
  ): Promise<{ application: PlatformApplicationRecord; created: boolean }> {
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      const application = await this.get(record.arn)
      if (application) return { application, created: false }
      if (await this.#put(record, null)) return { application: record, created: true }
    }
    throw changedMeanwhile()
  }

  async get(arn: string): Promise<PlatformApplicationRecord | null> {
    return (await this.#read(arn))?.record ?? null
  }

  /** Changes the application. If another writer was faster, `change` is called again. Throws `not_found`. */
  async update(arn: string, change: ApplicationChange): Promise<PlatformApplicationRecord> {
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      const read = await this.#read(arn)
      if (!read) throw new FantailError('not_found', 'no such platform application')
      const record = change(read.record)
      if (await this.#put(record, read.text)) return record
    }
    throw changedMeanwhile()
  }

  /** Deletes the application with its endpoints. Returns false if it did not exist. */
  async delete(arn: string): Promise<boolean> {
    return (await runScript(this.#redis, DELETE, { base: shardBase(shardOf(arn)), app: arn })) === 1
  }

  /** Sorted by ARN. */
  async list(request: ListApplications): Promise<Page<PlatformApplicationRecord>> {
    const { arnPrefix = '', cursor, limit, onUnreadable } = request
    const after = cursor ? (decodeCursor(cursor, 1)[0] ?? '') : ''
    const names = { key: platformApplicationsKey, prefix: arnPrefix, after, limit: limit + 1 }
    const arns = await listNames(this.#redis, names)
    const page = arns.slice(0, limit)
    const pipeline = batch(this.#redis)
    for (const arn of page) pipeline.get(platformApplicationKey(arn))
    const keyOf = (i: number) => platformApplicationKey(page[i] ?? '')
    const texts = (await readableReplies(pipeline, { keyOf, onUnreadable })) as (string | null | undefined)[]
    // An application that was deleted after its name was read is left out.
    const items = page.flatMap((arn, i) => {
      const text = texts[i]
      return text
        ? ifReadable(
            () => parse(text, arn),
            (error) => onUnreadable?.(error, error.key),
          )
        : []
    })
    return { items, nextCursor: arns.length > limit ? encodeCursor([page.at(-1) ?? '']) : null }
  }

  /** Reports the applications whose records cannot be read. */
  async sweep(onUnreadable: OnUnreadable): Promise<number> {
    await readToEnd((cursor) => this.list({ cursor, limit: APPLICATIONS_SWEPT_AT_ONCE, onUnreadable }))
    return 0
  }

  async #read(arn: string): Promise<{ record: PlatformApplicationRecord; text: string } | null> {
    const text = await this.#redis.get(platformApplicationKey(arn))
    return text === null ? null : { record: parse(text, arn), text }
  }

  /** Stores the record. Returns false if the stored record is no longer the expected one. */
  async #put(application: PlatformApplicationRecord, expected: string | null): Promise<boolean> {
    const { arn } = application
    const record = sumRecord(application)
    if (record === expected) return true
    await admitLonger(this.#growth, expected, record)
    const args = { base: shardBase(shardOf(arn)), app: arn, expected: expected ?? '', record }
    return (await runScript(this.#redis, PUT, args)) === 1
  }
}

export function changedMeanwhile(): FantailError {
  return new FantailError('conflict', 'others change it at the same time; try again')
}

function parse(text: string, arn: string): PlatformApplicationRecord {
  return parseRecord(text, platformApplicationKey(arn)) as unknown as PlatformApplicationRecord
}
