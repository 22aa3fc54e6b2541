/**
 * Addresses that get no mail: addresses that a server does not know, and addresses that operators add. All accounts
 * share one list, because all mails are sent through one SMTP server.
 */
import { SUPPRESSIONS_MAX, type SuppressionReason } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { type GrowthGuard, UNGUARDED } from '../capacity/growth.ts'
import { MAIL_BASE, suppressedAddressesKey, suppressionsKey } from '../keys/keys.ts'
import { parseStored } from '../records/stored-json.ts'
import { decodeCursor, encodeCursor, type Page } from '../redis/pages.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, partsIfReadable } from '../redis/unreadable.ts'

const ADD = readScript('suppress-address-1')
const REMOVE = readScript('release-address-1')

export interface Suppression {
  /** The address in lower case. */
  address: string
  reason: SuppressionReason
  /** Explanation by the mail server or by the operator. */
  detail: string
  /** Epoch ms. */
  suppressedAt: number
}

export class Suppressions {
  readonly #redis: Redis
  readonly #growth: GrowthGuard

  constructor(redis: Redis, { growth = UNGUARDED }: { growth?: GrowthGuard } = {}) {
    this.#redis = redis
    this.#growth = growth
  }

  async has(address: string): Promise<boolean> {
    return (await this.#redis.hexists(suppressionsKey(), address)) === 1
  }

  async get(address: string): Promise<Suppression | null> {
    const text = await this.#redis.hget(suppressionsKey(), address)
    return text === null ? null : unpack(address, text)
  }

  /**
   * `present`: the address was in the list, and its entry stays unchanged. `full`: the list has no space. Throws
   * `storage_full`.
   */
  async add({ address, ...about }: Suppression): Promise<'added' | 'present' | 'full'> {
    await this.#growth.admit()
    const args = { base: MAIL_BASE, address, about: JSON.stringify(about), addressesMax: SUPPRESSIONS_MAX }
    const outcome = await runScript(this.#redis, ADD, args)
    return outcome === 1 ? 'added' : outcome === 0 ? 'present' : 'full'
  }

  /** Returns false if the list did not have the address. */
  async remove(address: string): Promise<boolean> {
    return (await runScript(this.#redis, REMOVE, { base: MAIL_BASE, address })) === 1
  }

  /** Entries, sorted by address. */
  async list({ cursor, limit }: { cursor?: string | undefined; limit: number }): Promise<Page<Suppression>> {
    const after = cursor === undefined ? '-' : `(${decodeCursor(cursor, 1)[0]}`
    const key = suppressedAddressesKey()
    const addresses = await partsIfReadable(() => this.#redis.zrangebylex(key, after, '+', 'LIMIT', 0, limit))
    const readTexts = () => this.#redis.hmget(suppressionsKey(), ...addresses)
    const texts = addresses.length === 0 ? [] : await partsIfReadable(readTexts)
    const nextCursor = addresses.length < limit ? null : encodeCursor([addresses.at(-1) ?? ''])
    // An address that was removed after the addresses were read is omitted.
    const items = addresses.flatMap((address, i) => {
      const text = texts[i]
      return text ? ifReadable(() => unpack(address, text)) : []
    })
    return { items, nextCursor }
  }
}

function unpack(address: string, text: string): Suppression {
  return { address, ...(parseStored(text, suppressionsKey()) as Omit<Suppression, 'address'>) }
}
