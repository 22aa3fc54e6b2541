/**
 * The key pair that signs messages, one for all processes, and every certificate that was ever used. A subscriber may
 * verify a message long after its key was replaced. The caller decides whether the private key is sealed. If it is not,
 * anyone who can read this Redis can sign.
 */
import { jsonOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SIGNING_BASE, signingCertificatesKey, signingPairKey } from '../keys/keys.ts'
import { readScript, runScript } from '../redis/scripts.ts'

const KEEP = readScript('keep-signing-pair-1')
const REPLACE = readScript('replace-signing-pair-1')
const PUBLISH = readScript('publish-certificate-1')

/** PEM texts. `sealed` is the private key, sealed with a master key. */
type StoredSigningPair = { privateKey: string; certificate: string } | { sealed: string; certificate: string }

export class SigningKeys {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** null: none is stored yet. */
  async read(): Promise<StoredSigningPair | null> {
    const text = await this.#redis.get(signingPairKey())
    return text === null ? null : parsePair(text)
  }

  /** Stores the pair if there is none. Returns the stored one. */
  async offer(pair: StoredSigningPair): Promise<StoredSigningPair> {
    const args = { base: SIGNING_BASE, offered: JSON.stringify(pair) }
    return parsePair(String(await runScript(this.#redis, KEEP, args)))
  }

  /** Returns false if the stored pair is no longer the one that was read. */
  async replace(before: StoredSigningPair, after: StoredSigningPair): Promise<boolean> {
    const text = await this.#redis.get(signingPairKey())
    if (text === null || JSON.stringify(parsePair(text)) !== JSON.stringify(before)) return false
    const args = { base: SIGNING_BASE, expected: text, pair: JSON.stringify(after) }
    return (await runScript(this.#redis, REPLACE, args)) === 1
  }

  async publish(name: string, certificate: string): Promise<void> {
    await runScript(this.#redis, PUBLISH, { base: SIGNING_BASE, name, certificate })
  }

  /** PEM text. null: no certificate has this name. */
  async certificate(name: string): Promise<string | null> {
    return this.#redis.hget(signingCertificatesKey(), name)
  }
}

/** An error never repeats the text. */
function parsePair(text: string): StoredSigningPair {
  const pair = jsonOf(text)
  const { privateKey, sealed, certificate } = (pair ?? {}) as Record<string, unknown>
  if (typeof certificate === 'string') {
    if (typeof privateKey === 'string') return { privateKey, certificate }
    if (typeof sealed === 'string') return { sealed, certificate }
  }
  throw new Error(`what ${signingPairKey()} holds is not a pair of key and certificate`)
}
