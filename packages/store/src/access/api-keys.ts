/**
 * API keys by id. Redis holds only the hash of a secret, or its sealed text. A process that caches keys follows
 * WAKE_CHANGES, which announces the id of every new or revoked key.
 */
import { isDeepStrictEqual } from 'node:util'
import { type ApiKeyRecord, FantailError, KEY_ID, KEYS_MAX } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { admitLonger, type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { API_KEYS_BASE, apiKeyNamesKey, apiKeysKey } from '../keys/keys.ts'
import { checkText, sumText } from '../records/checksums.ts'
import { type FieldTable, RecordFields } from '../records/fields.ts'
import { parseStored, UnreadableRecordError } from '../records/stored-json.ts'
import { decodeCursor, encodeCursor, type Page, readToEnd } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, type OnUnreadable, partsIfReadable } from '../redis/unreadable.ts'
import { endSessionsOfKey } from './session-scripts.ts'

/** The fields of an API key's record, stored as JSON by their own names. */
const API_KEY_FIELDS = {
  id: { required: true, type: 'string', shown: 'asItIs' },
  kind: { required: true, type: 'string', shown: 'asItIs' },
  name: { default: '', shown: 'asItIs' },
  account: { required: true, type: 'string', shown: 'asItIs' },
  scopes: { default: [], shown: 'asItIs' },
  prefixes: { default: [], shown: 'asItIs' },
  maxRequestsPerSecond: { default: null, shown: 'asItIs' },
  limitedBy: { optional: true, default: [], shown: 'asItIs' },
  createdAt: { required: true, type: 'number', shown: 'inOtherForm' },
  secretHash: { optional: true, default: null, shown: 'never' },
  sealedSecret: { optional: true, default: null, shown: 'never' },
} as const satisfies FieldTable<ApiKeyRecord>

export const API_KEY = new RecordFields<ApiKeyRecord, typeof API_KEY_FIELDS>(API_KEY_FIELDS)

const CREATE = readScript('create-api-key-1')
const REVOKE = readScript('revoke-api-key-1')
const KEEP_CURSOR_KEY = readScript('keep-cursor-key-1')
const REPLACE = readScript('replace-api-key-1')

interface ListApiKeys {
  /** Only keys of this account. */
  account?: string
  cursor?: string | undefined
  limit: number
  /** Called for a key whose record cannot be read. The others are listed. */
  onUnreadable?: (error: UnreadableRecordError) => void
}

/** Keys whose records a sweep reads at a time. Past it: the others follow. */
const KEYS_SWEPT_AT_ONCE = 500

export class ApiKeys {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  /** The guard is asked before a key is created, or its record becomes longer. */
  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  /** Throws `conflict` if the id is taken or there are too many keys. Throws `storage_full` past the watermark. */
  async create(key: ApiKeyRecord): Promise<void> {
    await this.#growth.admit()
    const { id, account } = key
    const args = { base: API_KEYS_BASE, id, account, record: sumText(JSON.stringify(key)), keysMax: KEYS_MAX }
    const outcome = await runScript(this.#redis, CREATE, args)
    if (outcome === 1) return
    const why = outcome === 2 ? `there are ${KEYS_MAX} keys, as many as there may be` : `key ${key.id} exists`
    throw new FantailError('conflict', why)
  }

  async get(id: string): Promise<ApiKeyRecord | null> {
    if (!KEY_ID.test(id)) return null
    const text = await this.#redis.hget(apiKeysKey(), id)
    return text === null ? null : parse(text, id)
  }

  /** Whether the account has this key. Also right for a key whose record cannot be read. */
  async belongsTo(id: string, account: string): Promise<boolean> {
    return (await this.#redis.zscore(apiKeyNamesKey(), `${account} ${id}`)) !== null
  }

  /**
   * Revokes the key, and then ends its sessions and links, which are void without it. If the process dies in between,
   * they end by themselves. Returns false if there was no such key.
   */
  async revoke(id: string): Promise<boolean> {
    if (!KEY_ID.test(id)) return false
    const isRevoked = (await runScript(this.#redis, REVOKE, { base: API_KEYS_BASE, id })) === 1
    if (isRevoked) await endSessionsOfKey(this.#redis, id)
    return isRevoked
  }

  /** Returns false if the key was revoked or changed since it was read. */
  async replace(before: ApiKeyRecord, after: ApiKeyRecord): Promise<boolean> {
    const { id } = before
    const expected = await this.#redis.hget(apiKeysKey(), id)
    if (expected === null || !isDeepStrictEqual(parse(expected, id), before)) return false
    const record = sumText(JSON.stringify(after))
    await admitLonger(this.#growth, expected, record)
    return (await runScript(this.#redis, REPLACE, { base: API_KEYS_BASE, id, expected, record })) === 1
  }

  /** Sorted by account and id. */
  async list({ account, cursor, limit, onUnreadable }: ListApiKeys): Promise<Page<ApiKeyRecord>> {
    const after = cursor === undefined ? '' : (decodeCursor(cursor, 1)[0] ?? '')
    const prefix = account === undefined ? '' : `${account} `
    const min = after !== '' && after >= prefix ? `(${after}` : prefix === '' ? '-' : `[${prefix}`
    const max = prefix === '' ? '+' : `[${prefix}\xff`
    const names = await partsIfReadable(() =>
      this.#redis.zrangebylex(apiKeyNamesKey(), min, max, 'LIMIT', 0, limit + 1),
    )
    const page = names.slice(0, limit)
    const ids = page.map((name) => name.slice(name.indexOf(' ') + 1))
    const readTexts = () => this.#redis.hmget(apiKeysKey(), ...ids)
    const texts = ids.length === 0 ? [] : await partsIfReadable(readTexts)
    // A key that was revoked since its name was read is left out.
    const items = ids.flatMap((id, i) => {
      const text = texts[i]
      return text ? ifReadable(() => parse(text, id), onUnreadable) : []
    })
    return { items, nextCursor: names.length > limit ? encodeCursor([page.at(-1) ?? '']) : null }
  }

  /** Reports the keys whose records cannot be read, without their texts. */
  async sweep(onUnreadable: OnUnreadable): Promise<number> {
    const request = {
      limit: KEYS_SWEPT_AT_ONCE,
      onUnreadable: ({ key, cause }: UnreadableRecordError) =>
        onUnreadable(new UnreadableRecordError(key, cause), key),
    }
    await readToEnd((cursor) => this.list({ ...request, cursor }))
    return 0
  }

  /** The key that all processes seal cursors with. If there is none yet, `offered` is stored. */
  async cursorKey(offered: string): Promise<string> {
    return String(await runScript(this.#redis, KEEP_CURSOR_KEY, { base: API_KEYS_BASE, offered }))
  }

  async count(): Promise<number> {
    return this.#redis.hlen(apiKeysKey())
  }
}

function parse(text: string, id: string): ApiKeyRecord {
  const key = `${apiKeysKey()} ${id}`
  return API_KEY.complete(parseStored(checkText(text, key), key), key)
}
