/**
 * The key pair that signs messages, one for all processes, and every certificate that was ever used. A subscriber may
 * verify a message long after its key was replaced. The caller decides whether the private key is sealed. If it is not,
 * anyone who can read this Redis can sign.
 *
 * Both are stored with a checksum, because a changed key still signs, and nobody could verify its signatures.
 */
import { jsonOf } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { SIGNING_BASE, signingCertificatesKey, signingPairKey } from '../keys/keys.ts'
import { checkText, sumText } from '../records/checksums.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { readScript, runScript } from '../redis/scripts.ts'
import { ifReadable, type OnUnreadable, whenReadable } from '../redis/unreadable.ts'

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

  /** null: none is stored yet. Throws an UnreadableRecordError if it was changed. */
  async read(): Promise<StoredSigningPair | null> {
    const text = await this.#redis.get(signingPairKey())
    return text === null ? null : parsePair(text)
  }

  /** Stores the pair if there is none. Returns the stored one. */
  async offer(pair: StoredSigningPair): Promise<StoredSigningPair> {
    const args = { base: SIGNING_BASE, offered: textOf(pair) }
    return parsePair(String(await runScript(this.#redis, KEEP, args)))
  }

  /** Stores the pair if there is none, or none that can be read. Returns the stored one. */
  async restore(pair: StoredSigningPair): Promise<StoredSigningPair> {
    // A damaged text may be no UTF-8, so it is compared as bytes.
    const text = await this.#redis.getBuffer(signingPairKey())
    const [stored] = text === null ? [] : ifReadable(() => parsePair(String(text)))
    if (stored) return stored
    if (text !== null)
      await runScript(this.#redis, REPLACE, { base: SIGNING_BASE, expected: text, pair: textOf(pair) })
    return this.offer(pair)
  }

  /** Returns false if the stored pair is no longer the one that was read. */
  async replace(before: StoredSigningPair, after: StoredSigningPair): Promise<boolean> {
    const text = await this.#redis.get(signingPairKey())
    if (text === null || JSON.stringify(parsePair(text)) !== JSON.stringify(before)) return false
    const args = { base: SIGNING_BASE, expected: text, pair: textOf(after) }
    return (await runScript(this.#redis, REPLACE, args)) === 1
  }

  async publish(name: string, certificate: string): Promise<void> {
    const summed = sumText(certificate, name)
    await runScript(this.#redis, PUBLISH, { base: SIGNING_BASE, name, certificate: summed })
  }

  /** PEM text. null: no certificate has this name. Throws an UnreadableRecordError if it was changed. */
  async certificate(name: string): Promise<string | null> {
    const text = await this.#redis.hget(signingCertificatesKey(), name)
    return text === null ? null : checkText(text, `${signingCertificatesKey()} ${name}`, name)
  }

  /** Reports the pair and the certificates that cannot be read. */
  async sweep(onUnreadable: OnUnreadable): Promise<number> {
    await whenReadable(signingPairKey(), onUnreadable, () => this.read())
    const all = signingCertificatesKey()
    const names = (await whenReadable(all, onUnreadable, () => this.#redis.hkeys(all))) ?? []
    for (const name of names) await whenReadable(`${all} ${name}`, onUnreadable, () => this.certificate(name))
    return 0
  }
}

function textOf(pair: StoredSigningPair): string {
  return sumText(JSON.stringify(pair))
}

/** An error never repeats the text, so that the quarantine shows no private key. */
function parsePair(text: string): StoredSigningPair {
  const key = signingPairKey()
  const [pair] = ifReadable(() => jsonOf(checkText(text, key)))
  const { privateKey, sealed, certificate } = (pair ?? {}) as Record<string, unknown>
  if (typeof certificate === 'string') {
    if (typeof privateKey === 'string') return { privateKey, certificate }
    if (typeof sealed === 'string') return { sealed, certificate }
  }
  throw new UnreadableRecordError(
    key,
    new TypeError('it was changed, or is not a pair of key and certificate'),
  )
}
