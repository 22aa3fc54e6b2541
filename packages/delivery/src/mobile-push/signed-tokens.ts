/**
 * Makes the signed tokens (RFC 7519) that push providers accept in place of the application's credential. APNs and Web
 * Push take tokens signed with ES256, and Google takes RS256.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'

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
