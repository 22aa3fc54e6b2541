/**
 * A cache of API keys, as fresh as that of topics. A revoked key is dropped when the revocation is announced, and
 * within a second if the announcement is lost. Unknown keys are cached too, so that guesses do not cost a round trip
 * each.
 */

import { type KnownKey, keyOf } from '@fantail/access'
import { type ApiKeyRecord, sealContextOf } from '@fantail/contracts'
import type { ApiKeys } from '@fantail/store'
import type { Vault } from '@fantail/vault'
import type { Log } from '../http/log.ts'
import { FreshCache } from './fresh-cache.ts'

interface Entry {
  known: KnownKey | undefined
}

interface KeyCacheOptions {
  keys: Pick<ApiKeys, 'get'>
  vault: Vault | undefined
  log: Pick<Log, 'error'>
  /** Monotonic ms. */
  now?: () => number
}

export class KeyCache extends FreshCache<Entry> {
  constructor({ keys, vault, log, now }: KeyCacheOptions) {
    super({
      now,
      look: async (id) => {
        const record = await keys.get(id)
        return { known: record ? withSecret(record, vault, log) : undefined }
      },
    })
  }

  /** undefined: there is no such key, or its secret cannot be opened. */
  of(id: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    const entry = this.known(id)
    return entry ? entry.known : this.find(id).then((found) => found?.known)
  }
}

function withSecret(
  record: ApiKeyRecord,
  vault: Vault | undefined,
  log: Pick<Log, 'error'>,
): KnownKey | undefined {
  const { id, secretHash, sealedSecret } = record
  const key = keyOf(record)
  if (secretHash !== undefined) return { key, secretHash: Buffer.from(secretHash, 'hex') }
  try {
    if (vault === undefined) throw new Error('there is no FANTAIL_MASTER_KEY to open its secret with')
    return { key, secret: vault.open(sealedSecret ?? '', sealContextOf(id)) }
  } catch (error) {
    log.error({ keyId: id, err: error }, 'key.unusable')
    return undefined
  }
}
