/**
 * Removes credentials from an endpoint's URL before it is stored and shown, and puts a digest in their place. Equal
 * URLs have equal digests, so a subscription can be found by its URL. The digest takes long to compute (scrypt, salted
 * with the rest of the URL). An attacker who reads the database needs that time for each password that he tries.
 */
import { scrypt } from 'node:crypto'

const CREDENTIALS_DIGEST_BYTES = 16
/** About 30 ms and 16 MiB, in the thread pool. */
const COST = { N: 16_384, r: 8, p: 1 }
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i
const HIDDEN = /^([a-z][a-z0-9+.-]*:\/\/)((?:[^/?#@]*:)?)~[A-Za-z0-9_-]{22}@/i

export function hasCredentials(url: string): boolean {
  const userinfo = USERINFO.exec(url)?.[2]
  return userinfo !== undefined && userinfo !== '' && userinfo !== ':'
}

/** `https://user:~<digest>@host`, or `https://~<digest>@host` without a password. Other URLs are returned unchanged. */
export async function hideCredentials(url: string): Promise<string> {
  const [found, scheme = '', userinfo = ''] = USERINFO.exec(url) ?? []
  if (found === undefined || !hasCredentials(url)) return url
  const rest = url.slice(found.length)
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/.exec(userinfo) ?? []
  const digest = await digestOf(userinfo, scheme + rest)
  return `${scheme}${password === '' ? '' : `${user}:`}~${digest}@${rest}`
}

/** The URL for logs and answers: `https://user:****@host`. `url` may be the stored form or the plain one. */
export function maskCredentials(url: string): string {
  const masked = url.replace(HIDDEN, '$1$2****@')
  if (masked !== url || !hasCredentials(url)) return masked
  return url.replace(USERINFO, (_, scheme: string, userinfo: string) => {
    const at = userinfo.indexOf(':')
    return `${scheme}${at >= 0 && at < userinfo.length - 1 ? userinfo.slice(0, at + 1) : ''}****@`
  })
}

function digestOf(userinfo: string, salt: string): Promise<string> {
  return new Promise((resolve, reject) => {
    scrypt(userinfo, salt, CREDENTIALS_DIGEST_BYTES, COST, (error, key) => {
      if (error) reject(error)
      else resolve(key.toString('base64url'))
    })
  })
}
