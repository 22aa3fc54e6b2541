/**
 * The ids of the master keys that have sealed secrets in this Redis. A process with another key can then report that at
 * its start, and not only at the first secret that it cannot open.
 */
import type { Redis } from 'ioredis'
import { VAULT_BASE, vaultKeysKey } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { partsIfReadable } from '../redis/unreadable.ts'
import { UnusableDataError } from '../redis/unusable-data.ts'

const ADD = readScript('add-vault-key-1')

/** This Redis has secrets that are sealed with a key which the process does not have. */
export class MasterKeyError extends UnusableDataError {
  constructor(sealedWith: string[], has: readonly string[]) {
    const missing = sealedWith.join(', ')
    const own =
      has.length === 0 ? 'FANTAIL_MASTER_KEY is not set' : `FANTAIL_MASTER_KEY and _OLD are ${has.join(', ')}`
    super(
      `secrets in this Redis are sealed with master key ${missing}, and ${own}: give the key they were sealed with, ` +
        'as FANTAIL_MASTER_KEY or among FANTAIL_MASTER_KEYS_OLD',
    )
    this.name = 'MasterKeyError'
  }
}

export class VaultKeys {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** Throws a MasterKeyError if another key than these has sealed secrets here. */
  async check(keyIds: readonly string[]): Promise<void> {
    const missing = (await this.all()).filter((id) => !keyIds.includes(id))
    if (missing.length > 0) throw new MasterKeyError(missing, keyIds)
  }

  /** Records that this key may seal secrets from now on. */
  async add(keyId: string): Promise<void> {
    await runScript(this.#redis, ADD, { base: VAULT_BASE, keyId })
  }

  /** None if their key has another type. A start does not fail by that. */
  async all(): Promise<string[]> {
    return (await partsIfReadable(() => this.#redis.smembers(vaultKeysKey()))).sort()
  }

  /** Records that all secrets are sealed with this key only. */
  async keepOnly(keyId: string): Promise<void> {
    const others = (await this.all()).filter((id) => id !== keyId)
    if (others.length > 0) await this.#redis.srem(vaultKeysKey(), ...others)
  }
}
