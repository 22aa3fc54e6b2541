/** Checks a Standard Webhooks signature step by step, and names the step that fails. */
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'

interface ReceivedRequest {
  /** Lines `name: value`. */
  headers: string[]
  body: Buffer
}

interface Check {
  /** `whsec_` with a shared secret, or `whpk_` with a public key. */
  secret: string
  toleranceMs: number
  now: number
}

interface Problem {
  message: string
  hint?: string
}

/** Reads a request as text: a request line if there is one, headers, an empty line, the body. */
export function readRequest(bytes: Buffer): ReceivedRequest {
  const [end, length] = endOfHeaders(bytes)
  const headers = bytes.subarray(0, end).toString('latin1').split(/\r?\n/)
  return { headers: headers.filter((line) => /^[\w-]+:/.test(line)), body: bytes.subarray(end + length) }
}

function endOfHeaders(bytes: Buffer): [at: number, length: number] {
  const found = ['\r\n\r\n', '\n\n'].map((gap) => [bytes.indexOf(gap), gap.length] as [number, number])
  const [first] = found.filter(([at]) => at >= 0).sort(([a], [b]) => a - b)
  return first ?? [bytes.length, 0]
}

/** undefined: the signature is right. */
export function checkSignature({ headers, body }: ReceivedRequest, check: Check): Problem | undefined {
  const values = new Map(
    headers.map((line) => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    values.get(name),
  )
  if (!id || !time || !signatures)
    return { message: 'webhook-id, webhook-timestamp or webhook-signature is missing' }
  const ageMs = check.now - Number(time) * 1_000
  if (!(Math.abs(ageMs) <= check.toleranceMs)) {
    const message = `the time is wrong: the request was signed at ${timeText(time)}`
    return { message, hint: 'Check the clock, or give --tolerance for an old request.' }
  }
  return checkKey(Buffer.concat([Buffer.from(`${id}.${time}.`), body]), signatures, check.secret)
}

function timeText(seconds: string): string {
  const date = new Date(Number(seconds) * 1_000)
  return Number.isNaN(date.getTime()) ? seconds : date.toISOString()
}

function checkKey(content: Buffer, signatures: string, secret: string): Problem | undefined {
  const [, kind = '', text = ''] = /^(whsec|whpk)_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  if (kind === '') return { message: 'the key must be whsec_… or whpk_… with base64' }
  const version = kind === 'whsec' ? 'v1' : 'v1a'
  const given = signatures.split(' ').map((one) => one.split(','))
  const own = given.filter(([name]) => name === version).map(([, value = '']) => Buffer.from(value, 'base64'))
  if (own.length === 0) {
    const names = given.map(([name]) => name).join(', ')
    return { message: `the request has no ${version} signature, which this key is for, but ${names}` }
  }
  const matches = kind === 'whsec' ? hmacCheck(content, text) : publicCheck(content, text)
  if (own.some(matches)) return undefined
  const hint = 'The key is another one, or the body is not byte for byte what was received.'
  return { message: 'the signature is of another key or another body', hint }
}

function hmacCheck(content: Buffer, text: string): (given: Buffer) => boolean {
  const expected = createHmac('sha256', Buffer.from(text, 'base64')).update(content).digest()
  return (given) => given.length === expected.length && timingSafeEqual(given, expected)
}

function publicCheck(content: Buffer, text: string): (given: Buffer) => boolean {
  const x = Buffer.from(text, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return (given) => verify(null, content, key, given)
}
