/**
 * Which master keys have sealed something here. Only their ids stand in Redis: with them a process that has another key
 * says so when it starts, instead of at the first secret that it cannot open.
 */
import type { Redis } from 'ioredis'
import { VAULT_BASE, vaultKeysKey } from '../keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const ADD = readScript('add-vault-key-1')

/** Secrets here are sealed with a key that the process does not have. */
export class MasterKeyError extends Error {
  constructor(sealedWith: string[], has: readonly string[]) {
    const missing = sealedWith.join(', ')
    const own =
      has.length === 0
        ? 'there is no FANTAIL_MASTER_KEY'
        : `FANTAIL_MASTER_KEY and _OLD are ${has.join(', ')}`
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

  /** Throws a MasterKeyError where something is sealed with none of these. */
  async check(keyIds: readonly string[]): Promise<void> {
    const missing = (await this.all()).filter((id) => !keyIds.includes(id))
    if (missing.length > 0) throw new MasterKeyError(missing, keyIds)
  }

  /** From now on something may be sealed with it. */
  async add(keyId: string): Promise<void> {
    await runScript(this.#redis, ADD, { base: VAULT_BASE, keyId })
  }

  async all(): Promise<string[]> {
    return (await this.#redis.smembers(vaultKeysKey())).sort()
  }

  /** Nothing is sealed any more with any but this one. */
  async keepOnly(keyId: string): Promise<void> {
    const others = (await this.all()).filter((id) => id !== keyId)
    if (others.length > 0) await this.#redis.srem(vaultKeysKey(), ...others)
  }
}
