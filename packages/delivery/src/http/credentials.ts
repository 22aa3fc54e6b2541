/**
 * Credentials in an endpoint's URL (checklist 51). The first request is sent without them. The endpoint answers with a
 * 401 and a challenge. This challenge is kept, so that later requests carry the header at once.
 *
 * A digest nonce belongs to the attempt that was challenged with it until a request with this nonce was accepted. Later
 * requests then use the nonce with a higher count. An accepted answer may give a nonce for the next request
 * (`nextnonce`). Such a nonce is used first, and once. A server with one-time nonces therefore needs no further
 * challenge.
 */
import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Challenge, type DigestChallenge, nextNonce, strongestChallenge } from './challenges.ts'

/**
 * Unused nonces of one endpoint. Past it: the oldest is forgotten. Unused nonces that answers gave for a next request.
 * One nonce for each request in flight is enough.
 */
const FRESH_NONCES_MAX = 64
/**
 * Nonces of one endpoint whose uses are counted. Past it: the least recently used one is forgotten. Attempts that run
 * at the same time may be challenged with the same nonce. Each use needs its own count.
 */
const COUNTED_NONCES_MAX = 256

/** Credentials that a request carried. */
export interface Authorization {
  header: string
  challenge: Challenge
  /** How many requests have used the challenge's nonce, including this one. */
  use: number
}

export class Credentials {
  readonly #user: string
  readonly #password: string
  /** The challenge for which later requests carry the header at once. */
  #known: Challenge | undefined
  #fresh: DigestChallenge[] = []
  readonly #counted = new LRUCache<string, DigestChallenge>({ max: COUNTED_NONCES_MAX })

  constructor(user: string, password: string) {
    this.#user = user
    this.#password = password
  }

  /**
   * The header that answers `challenge`. A first request has no challenge of its own: its header answers the last one
   * that the endpoint sent, and is undefined before that.
   */
  authorization(
    method: string,
    path: string,
    challenge: Challenge | undefined = this.#fresh.pop() ?? this.#known,
  ): Authorization | undefined {
    if (!challenge) return undefined
    if (challenge.scheme === 'digest') {
      challenge.count += 1
      return { header: this.#digestHeader(challenge, method, path), challenge, use: challenge.count }
    }
    const header = `Basic ${Buffer.from(`${this.#user}:${this.#password}`).toString('base64')}`
    return { header, challenge, use: 1 }
  }

  /** Called if the request was not sent. Another request may then use the nonce with this count. */
  unsent({ challenge, use }: Authorization): void {
    if (challenge.scheme !== 'digest' || challenge.count !== use) return
    challenge.count -= 1
    if (use === 1 && challenge !== this.#known) this.#fresh.push(challenge)
  }

  /**
   * The challenge of a 401 that the attempt's next request should answer. Undefined if the 401 has none, or if the
   * credentials are wrong. They are wrong if the refused request had answered the same challenge; an old nonce gets a
   * new one.
   */
  challenge(header: string | string[], sent: Authorization | undefined): Challenge | undefined {
    const challenge = strongestChallenge(header)
    const refused = sent?.challenge
    // If one nonce is refused, the other unused ones have probably expired too.
    if (refused?.scheme === 'digest') this.#fresh = []
    if (challenge?.scheme !== 'digest') {
      this.#known = challenge
      return refused?.scheme === 'basic' ? undefined : challenge
    }
    if (this.#known === refused || this.#known?.scheme === 'basic') this.#known = undefined
    if (refused?.scheme === 'digest' && refused.nonce === challenge.nonce) return undefined
    const counted = this.#counted.get(challenge.nonce)
    if (counted) return counted
    this.#counted.set(challenge.nonce, challenge)
    return challenge
  }

  /** Called if the endpoint accepted the request. `info` is the `Authentication-Info` of its answer. */
  accepted({ challenge }: Authorization, info: string | undefined): void {
    this.#known = challenge
    const nonce = info === undefined ? undefined : nextNonce(info)
    if (nonce === undefined || challenge.scheme !== 'digest') return
    this.#fresh.push({ ...challenge, nonce, count: 0 })
    if (this.#fresh.length > FRESH_NONCES_MAX) this.#fresh.shift()
  }

  #digestHeader(challenge: DigestChallenge, method: string, path: string): string {
    const { realm, nonce, opaque, algorithm, hash, qop } = challenge
    const digest = (text: string) => createHash(hash).update(text).digest('hex')
    const count = challenge.count.toString(16).padStart(8, '0')
    const clientNonce = randomBytes(8).toString('hex')
    const secret = digest(`${this.#user}:${realm}:${this.#password}`)
    const request = digest(`${method}:${path}`)
    const middle = qop ? `${nonce}:${count}:${clientNonce}:auth` : nonce
    const parts = [
      `username="${quote(this.#user)}"`,
      `realm="${quote(realm)}"`,
      `nonce="${quote(nonce)}"`,
      `uri="${path}"`,
      `response="${digest(`${secret}:${middle}:${request}`)}"`,
      ...(algorithm ? [`algorithm=${algorithm}`] : []),
      ...(opaque === undefined ? [] : [`opaque="${quote(opaque)}"`]),
      ...(qop ? ['qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`] : []),
    ]
    return `Digest ${parts.join(', ')}`
  }
}

function quote(text: string): string {
  return text.replaceAll(/["\\]/g, '\\$&')
}
