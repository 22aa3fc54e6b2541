/**
 * The receiver as push service of browsers, and as Firebase Cloud Messaging. Every name is a browser, and every token a
 * device. Those named `status-410`, `flaky-3`, `slow-5000` and `hang` behave like the paths with these words.
 *
 *   GET  /vapid                          a VAPID key pair, as settings of a platform application
 *   GET  /service-account                a service account of Firebase, as such settings
 *   GET  /push/{browser}                 what the browser registers with: its token
 *   POST /push/{browser}                 a notification, shown as the browser reads it
 *   POST /token                          a token of FCM for any service account
 *   POST /v1/projects/{id}/messages:send a notification of FCM
 */
import { createECDH, createHash, type ECDH, generateKeyPairSync } from 'node:crypto'
import { createRequire } from 'node:module'
import { isObject, objectOf } from '@fantail/contracts'
import { ANSWER, type Behaviour, behaviourOf } from './behaviour.ts'

interface Decoder {
  decrypt(body: Buffer, keys: { version: 'aes128gcm'; privateKey: ECDH; authSecret: Buffer }): Buffer
}

/** The package has no types. */
const { decrypt } = createRequire(import.meta.url)('http_ece') as Decoder

const BROWSER = /^\/push\/([\w-]{1,100})$/
const SEND = /^\/v1\/projects\/[^/]+\/messages:send$/
const TOKEN_SECONDS = 3_600
const AUTH_BYTES = 16

interface Pushed {
  /** The text that the browser or device reads. */
  text: string
  /** The browser or device. */
  name: string
  /** Status of a success. */
  taken: number
  answerOf(status: number): object
}

export function takePush(path: string, body: Buffer): Pushed | undefined {
  const [, browser] = BROWSER.exec(path) ?? []
  if (browser !== undefined) {
    return { text: readBy(browser, body), name: browser, taken: 201, answerOf: () => ({}) }
  }
  const text = body.toString()
  // The assertion of a service account is a secret, so the page does not show it.
  if (path === '/token') return { text: '', name: '', taken: 200, answerOf: exchanged }
  return SEND.test(path) ? { text, name: deviceIn(text), taken: 200, answerOf: answerOfFirebase } : undefined
}

export function pushBehaviour({ name, taken }: Pushed, attempt: number): Behaviour {
  const { status, delayMs } = behaviourOf(`/${name.replace('-', '/')}`, attempt) ?? ANSWER
  return { status: status === 200 ? taken : status, delayMs }
}

/**
 * The answer to a GET of the path. Undefined: the path belongs to no push service. `origin` is that of the receiver.
 */
export function pushSetting(path: string, origin: string): object | undefined {
  if (path === '/vapid') return vapid()
  if (path === '/service-account') return serviceAccount()
  const [, browser] = BROWSER.exec(path) ?? []
  if (browser === undefined) return undefined
  const { pair, auth } = keysOf(browser)
  const keys = { p256dh: pair.getPublicKey().toString('base64url'), auth: auth.toString('base64url') }
  return { token: JSON.stringify({ endpoint: `${origin}${path}`, keys }) }
}

/** A name always has the same keys, so a browser stays registered when the receiver starts again. */
function keysOf(name: string): { pair: ECDH; auth: Buffer } {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(createHash('sha256').update(`browser ${name}`).digest())
  return { pair, auth: createHash('sha256').update(`auth ${name}`).digest().subarray(0, AUTH_BYTES) }
}

function readBy(browser: string, body: Buffer): string {
  const { pair, auth } = keysOf(browser)
  try {
    return decrypt(body, { version: 'aes128gcm', privateKey: pair, authSecret: auth }).toString()
  } catch (error) {
    return `the browser cannot read it: ${error instanceof Error ? error.message : 'unknown'}`
  }
}

function vapid(): object {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(createHash('sha256').update('the receiver’s application').digest())
  return {
    principal: pair.getPublicKey().toString('base64url'),
    credential: pair.getPrivateKey().toString('base64url'),
    subject: 'mailto:ops@example.com',
  }
}

function serviceAccount(): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const account = {
    type: 'service_account',
    project_id: 'local',
    client_email: 'push@local.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
  return { credential: JSON.stringify(account) }
}

function exchanged(): object {
  return { access_token: 'a-token-of-the-receiver', expires_in: TOKEN_SECONDS, token_type: 'Bearer' }
}

function deviceIn(text: string): string {
  const message = objectOf(text)?.message
  return isObject(message) && typeof message.token === 'string' ? message.token : ''
}

/** FCM reports a token that is gone in a detail of its error. */
function answerOfFirebase(status: number): object {
  if (status < 400) return { name: 'projects/local/messages/1' }
  const errorCode = status === 404 ? 'UNREGISTERED' : 'UNAVAILABLE'
  return { error: { code: status, status: errorCode, details: [{ errorCode }] } }
}
