/** Bearer tokens of the REST API. A caller who sends the id and the secret of a known key acts as this key. */
import { hash, timingSafeEqual } from 'node:crypto'
import { FantailError, KEY_COMMAND, parseToken } from '@fantail/contracts'
import type { Key } from './caller.ts'

export interface KnownKey {
  key: Key
  /** For a native key. */
  secretHash?: Buffer
  /** For an access key. */
  secret?: string
}

/** Finds a key by its id. */
interface KnownKeys {
  knownKey(id: string): KnownKey | undefined | Promise<KnownKey | undefined>
}

const BEARER = /^bearer +(\S+)$/i

/** `given`: the header Authorization. Throws `unauthorized` for every other caller. */
export function bearerOf(given: string | undefined, keys: KnownKeys): Key | Promise<Key> {
  if (given === undefined) throw refusal('no API key is given')
  return keyOfToken(BEARER.exec(given.trim())?.[1] ?? '', keys)
}

/** Throws `unauthorized` if the text is not the token of a key. */
export function keyOfToken(text: string, keys: KnownKeys): Key | Promise<Key> {
  const token = parseToken(text)
  if (!token) throw refusal('this is not an API key')
  const known = keys.knownKey(token.id)
  return known instanceof Promise
    ? known.then((found) => checked(found, token.secret))
    : checked(known, token.secret)
}

function checked(known: KnownKey | undefined, secret: string): Key {
  const given = hash('sha256', secret, 'buffer')
  if (known?.secretHash?.length === given.length && timingSafeEqual(known.secretHash, given)) return known.key
  throw refusal('the API key is not valid')
}

function refusal(why: string): FantailError {
  return new FantailError(
    'unauthorized',
    `${why}: send \`Authorization: Bearer ft_…\`; \`${KEY_COMMAND}\` makes one`,
  )
}
