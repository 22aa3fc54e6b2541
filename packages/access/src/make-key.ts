/** Makes API keys: the record, which is stored, and the secret, which is shown once and not stored. */
import { hash, randomBytes } from 'node:crypto'
import {
  type ApiKeyRecord,
  FantailError,
  formatToken,
  type KeyKind,
  type KeyLimit,
  type KeyScope,
  sealContextOf,
} from '@fantail/contracts'
import { API_KEY } from '@fantail/store'
import type { Vault } from '@fantail/vault'

export interface NewKey {
  name: string
  kind: KeyKind
  scopes: readonly KeyScope[]
  prefixes: readonly string[]
  account: string
  maxRequestsPerSecond: number | null
  /** The limits of the key that makes this one. */
  limitedBy?: readonly KeyLimit[]
}

/** To be shown once. */
export type Shown = { token: string } | { accessKeyId: string; secretAccessKey: string }

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_LETTERS = 18
const KEY_SECRET_BYTES = 32
/** Gives 40 characters in base64, as AWS's own secrets have. */
const ACCESS_SECRET_BYTES = 30

/** The key as the API and the command line show it, without its secret. */
export function keyView(record: ApiKeyRecord) {
  return { ...API_KEY.shown(record), createdAt: new Date(record.createdAt).toISOString() }
}

/** Throws `not_supported` for an access key if there is no vault to seal its secret. */
export function makeKey(
  wanted: NewKey,
  { vault, now }: { vault: Vault | undefined; now: number },
): { record: ApiKeyRecord; shown: Shown } {
  const id = `FK${Array.from(randomBytes(ID_LETTERS), (byte) => BASE32[byte & 31]).join('')}`
  const { name, kind, account, maxRequestsPerSecond, limitedBy = [] } = wanted
  const scopes = [...new Set(wanted.scopes)]
  const prefixes = [...new Set(wanted.prefixes)]
  const record = {
    ...{ id, kind, name, account, scopes, prefixes, maxRequestsPerSecond, createdAt: now },
    ...(limitedBy.length > 0 && { limitedBy: [...limitedBy] }),
  }
  if (kind === 'native') {
    const secret = randomBytes(KEY_SECRET_BYTES).toString('base64url')
    return {
      record: { ...record, secretHash: hash('sha256', secret, 'hex') },
      shown: { token: formatToken(id, secret) },
    }
  }
  if (!vault) {
    const message = 'an access key’s secret is kept sealed: set FANTAIL_MASTER_KEY'
    throw new FantailError('not_supported', message)
  }
  const secretAccessKey = randomBytes(ACCESS_SECRET_BYTES).toString('base64')
  return {
    record: { ...record, sealedSecret: vault.seal(secretAccessKey, sealContextOf(id)) },
    shown: { accessKeyId: id, secretAccessKey },
  }
}
