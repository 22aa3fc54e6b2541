/**
 * Stores endpoints of platform applications: devices and browsers. They are in the shard of their application. A token
 * has only one endpoint.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  FantailError,
  PLATFORM_ENDPOINTS_MAX,
  type PlatformEndpointRecord,
  parsePlatformEndpointArn,
  platformEndpointArn,
} from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import {
  platformApplicationKey,
  platformEndpointIdsKey,
  platformEndpointsKey,
  platformTokensKey,
} from '../keys/keys.ts'
import { shardBase, shardOf } from '../keys/shards.ts'
import { parseRecord, sumRecord } from '../records/checksums.ts'
import { decodeCursor, encodeCursor, type Page } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, partsIfReadable } from '../redis/unreadable.ts'
import { changedMeanwhile, PUSH_RECORD_TRIES_MAX } from './platform-applications.ts'

const PUT = readScript('put-platform-endpoint-1')
const DELETE = readScript('delete-platform-endpoint-1')
const REPLACE = readScript('replace-platform-endpoint-1')
const UUID_CHARS = 36
/** Tokens that one look for an endpoint's token reads, approximately. */
const SCANNED_TOKENS = 1_000

type NewEndpoint = Omit<PlatformEndpointRecord, 'arn'>
type EndpointChange = (current: PlatformEndpointRecord) => PlatformEndpointRecord

interface Read {
  record: PlatformEndpointRecord
  text: string
}

interface Put {
  application: string
  id: string
  record: PlatformEndpointRecord
  before: Read | null
}

/** Another endpoint of the application has the token. */
export class TokenTakenError extends Error {
  readonly holder: string

  constructor(holder: string) {
    super('another endpoint has the token')
    this.name = 'TokenTakenError'
    this.holder = holder
  }
}

export class PlatformEndpoints {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /**
   * Creates an endpoint. If an endpoint already has the token, it stays unchanged. Throws `conflict`, and `not_found`
   * if there is no such application.
   */
  async create(
    application: string,
    given: NewEndpoint,
  ): Promise<{ endpoint: PlatformEndpointRecord; created: boolean }> {
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      const id = randomUUID()
      const record = { arn: platformEndpointArn(application, id), ...given }
      const outcome = await this.#put({ application, id, record, before: null })
      if (outcome === 'done') return { endpoint: record, created: true }
      const holder = outcome === 'changed' ? null : await this.get(platformEndpointArn(application, outcome))
      if (holder) return { endpoint: holder, created: false }
    }
    throw changedMeanwhile()
  }

  async get(arn: string): Promise<PlatformEndpointRecord | null> {
    return (await this.#read(arn))?.record ?? null
  }

  /**
   * Changes the endpoint. If another writer was faster, `change` is called again. Throws `not_found`, or a
   * TokenTakenError.
   */
  async update(arn: string, change: EndpointChange): Promise<PlatformEndpointRecord> {
    const { application, id } = partsOf(arn)
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      const before = await this.#read(arn)
      if (!before) throw noEndpoint()
      const record = change(before.record)
      const outcome = await this.#put({ application, id, record, before })
      if (outcome === 'done') return record
      if (outcome !== 'changed') throw new TokenTakenError(platformEndpointArn(application, outcome))
    }
    throw changedMeanwhile()
  }

  /**
   * Disables the endpoint, unless it is disabled or has another token by now. Returns the record if it was disabled by
   * this call.
   */
  disable(
    arn: string,
    { token, isEventOwed }: { token: string; isEventOwed: boolean },
  ): Promise<PlatformEndpointRecord | null> {
    return this.#replace(arn, (record) => {
      if (!record.enabled || record.token !== token) return null
      return { ...record, enabled: false, ...(isEventOwed && { isEventOwed }) }
    })
  }

  /** Called when the event about the disabling was published. */
  async eventPublished(arn: string): Promise<void> {
    await this.#replace(arn, ({ isEventOwed, ...record }) => (isEventOwed ? record : null))
  }

  /** `change` returns null to leave the record as it is. The result is the new record, if there is one. */
  async #replace(
    arn: string,
    change: (record: PlatformEndpointRecord) => PlatformEndpointRecord | null,
  ): Promise<PlatformEndpointRecord | null> {
    const { application, id } = partsOf(arn)
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      const read = await this.#read(arn)
      const changed = read && change(read.record)
      if (!read || !changed) return null
      const record = sumRecord(changed)
      const args = { ...placeOf(application), id, expected: read.text, record }
      if ((await runScript(this.#redis, REPLACE, args)) === 1) return changed
    }
    throw changedMeanwhile()
  }

  /** Deletes the endpoint, also if its record cannot be read. Returns false if it did not exist. */
  async delete(arn: string): Promise<boolean> {
    const { application, id } = partsOf(arn)
    const key = platformEndpointsKey(application)
    for (let tries = 0; tries < PUSH_RECORD_TRIES_MAX; tries++) {
      // A damaged record may be no UTF-8, so it is compared as bytes.
      const expected = await this.#redis.hgetBuffer(key, id)
      if (expected === null) return false
      const [record] = ifReadable(() => parse(String(expected), key))
      const digest = record ? digestOf(record.token) : await this.#digestOfHolder(application, id)
      const args = { ...placeOf(application), id, expected, digest }
      if ((await runScript(this.#redis, DELETE, args)) === 1) return true
    }
    throw changedMeanwhile()
  }

  /** The digest of the endpoint's token, found by a look at the tokens of all endpoints. */
  async #digestOfHolder(application: string, id: string): Promise<string> {
    const key = platformTokensKey(application)
    for (let cursor = '0'; ; ) {
      const [next, fields] = await this.#redis.hscan(key, cursor, 'COUNT', SCANNED_TOKENS)
      const at = fields.findIndex((value, i) => i % 2 === 1 && value === id)
      if (at > 0) return fields[at - 1] ?? ''
      if (next === '0') return ''
      cursor = next
    }
  }

  /** Sorted by id. Throws `not_found` without the application. */
  async list(
    application: string,
    { cursor, limit }: { cursor?: string | undefined; limit: number },
  ): Promise<Page<PlatformEndpointRecord>> {
    const after = cursor === undefined ? '-' : `(${decodeCursor(cursor, 1)[0]}`
    if ((await this.#redis.exists(platformApplicationKey(application))) === 0) throw noApplication()
    const idsKey = platformEndpointIdsKey(application)
    const ids = await partsIfReadable(() =>
      this.#redis.zrangebylex(idsKey, after, '+', 'LIMIT', 0, limit + 1),
    )
    const page = ids.slice(0, limit)
    const key = platformEndpointsKey(application)
    const readTexts = () => this.#redis.hmget(key, ...page)
    const texts = page.length === 0 ? [] : await partsIfReadable(readTexts)
    // An endpoint that was deleted after its id was read is left out.
    const items = texts.flatMap((text) => (text ? ifReadable(() => parse(text, key)) : []))
    return { items, nextCursor: ids.length > limit ? encodeCursor([page.at(-1) ?? '']) : null }
  }

  async #read(arn: string): Promise<Read | null> {
    const { application, id } = partsOf(arn)
    const key = platformEndpointsKey(application)
    const text = await this.#redis.hget(key, id)
    return text === null ? null : { record: parse(text, key), text }
  }

  /**
   * Stores the record. Returns `done`, `changed` if the stored record is no longer `before`, or the id of the endpoint
   * that has the token.
   */
  async #put({ application, id, record, before }: Put): Promise<string> {
    const text = sumRecord(record)
    await admitLonger(this.#growth, before?.text ?? null, text)
    const digest = digestOf(record.token)
    const outcome = String(
      await runScript(this.#redis, PUT, {
        ...placeOf(application),
        id,
        expected: before?.text ?? '',
        record: text,
        digest,
        digestBefore: before ? digestOf(before.record.token) : digest,
        endpointsMax: PLATFORM_ENDPOINTS_MAX,
      }),
    )
    if (outcome === 'gone') throw noApplication()
    if (outcome !== 'full') return outcome
    const message = `the platform application has ${PLATFORM_ENDPOINTS_MAX} endpoints, as many as it takes`
    throw new FantailError('conflict', message)
  }
}

function placeOf(application: string) {
  return { base: shardBase(shardOf(application)), app: application }
}

/** The endpoint's place. The caller has checked the ARN; any other text names an endpoint that does not exist. */
function partsOf(arn: string): { application: string; id: string } {
  const parsed = parsePlatformEndpointArn(arn)
  return parsed ?? { application: arn.slice(0, -UUID_CHARS), id: arn.slice(-UUID_CHARS) }
}

function digestOf(token: string): string {
  return createHash('sha1').update(token).digest('hex')
}

function noApplication(): FantailError {
  return new FantailError('not_found', 'no such platform application')
}

function noEndpoint(): FantailError {
  return new FantailError('not_found', 'no such platform endpoint')
}

function parse(text: string, key: string): PlatformEndpointRecord {
  return parseRecord(text, key) as unknown as PlatformEndpointRecord
}
