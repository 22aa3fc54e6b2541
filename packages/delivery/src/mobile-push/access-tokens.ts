/**
 * Makes and caches the signed tokens (RFC 7519) that a provider accepts in place of the application's credential. APNs
 * and Web Push take tokens signed with ES256, and Google takes RS256. All attempts share a token.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Tokens of platform applications that a process keeps. Past it: the least recently used one is made again. */
const PUSH_TOKENS_MAX = 1_000

export interface MadeToken {
  token: string
  /** Epoch ms. */
  expiresAt: number
}

interface Kept {
  pending: Promise<MadeToken>
  /** Undefined while the token is being made. */
  made: MadeToken | undefined
}

export class AccessTokens {
  readonly #kept = new LRUCache<string, Kept>({ max: PUSH_TOKENS_MAX })

  /**
   * Returns the token called `name`, which names the application and its credential. If there is none, `make` makes it.
   * A failure rejects and is not cached.
   */
  async get(name: string, now: number, make: () => Promise<MadeToken>): Promise<string> {
    const known = this.#kept.get(name)
    if (known && (known.made === undefined || known.made.expiresAt > now)) return (await known.pending).token
    const kept: Kept = { pending: make(), made: undefined }
    this.#kept.set(name, kept)
    try {
      kept.made = await kept.pending
      return kept.made.token
    } catch (error) {
      if (this.#kept.peek(name) === kept) this.#kept.delete(name)
      throw error
    }
  }

  /** Drops this token, so that another one is made for the next request. A newer token stays. */
  drop(name: string, token: string): void {
    if (this.#kept.peek(name)?.made?.token === token) this.#kept.delete(name)
  }
}

interface Token {
  alg: 'ES256' | 'RS256'
  claims: Record<string, string | number>
  key: KeyObject
  /** Id of the key. */
  kid?: string | undefined
}

export function signToken({ alg, claims, key, kid }: Token): string {
  const head = { alg, typ: 'JWT', ...(kid !== undefined && { kid }) }
  const text = `${encoded(head)}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The private key of a VAPID pair, both in base64url. */
export function vapidKey(publicKey: string, privateKey: string): KeyObject {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const key = { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '', d: privateKey }
  return createPrivateKey({ key, format: 'jwk' })
}
