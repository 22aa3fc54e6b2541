/**
 * Signed messages, verified like a subscriber does: with the public sns-validator, which fetches the certificate over
 * https.
 */
import { verify, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { globalAgent, type RequestOptions, request } from 'node:https'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { topicArn } from '@fantail/contracts'
import { Topics } from '@fantail/store'
import { createAuthority, waitFor } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { ServiceProcess } from '../harness/services/service-process.ts'
import { useStack } from '../harness/services/stack.ts'

type Envelope = Record<string, string>
type Validated = (error: Error | null, message: Envelope) => void

/** The package has no types. */
const MessageValidator = createRequire(import.meta.url)('sns-validator') as new (
  hostPattern?: RegExp,
) => { validate(envelope: Envelope, done: Validated): void }

const stack = useStack()
const receiver = useReceiver()
const authority = createAuthority()
const OUR_HOST = /^localhost:\d+$/

let folder: string
let api: ServiceProcess
let origin: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fantail-tls-'))
  const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') }
  const { key, cert } = authority.issue(['localhost'])
  await Promise.all([writeFile(files.key, key), writeFile(files.cert, cert)])
  api = new ServiceProcess('publish-api', 'api-tls', {
    FANTAIL_PORT: '0',
    FANTAIL_HOST: 'localhost',
    REDIS_URL: stack().redis.url,
    FANTAIL_TLS_KEY_FILE: files.key,
    FANTAIL_TLS_CERT_FILE: files.cert,
  })
  await api.start({ untilReady: false })
  origin = `https://localhost:${new URL(api.url).port}`
  // The validator uses Node's global agent, so that agent must trust the test's authority.
  globalAgent.options.ca = authority.cert
  await waitFor(async () => (await call('GET', '/readyz')).status === 200)
})
afterAll(async () => {
  delete globalAgent.options.ca
  await api.stop()
  await rm(folder, { recursive: true })
})

/** One request over https; the certificate of the test's own authority is checked. */
async function call(method: string, path: string, body?: unknown) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined
    headers: NodeJS.Dict<string | string[]>
    text: string
  }>()
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
  const options: RequestOptions = { method, headers, ca: authority.cert }
  request(new URL(path, origin), options, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
  })
    .on('error', reject)
    .end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

function validated(envelope: Envelope, hostPattern?: RegExp): Promise<Envelope> {
  const { promise, resolve, reject } = Promise.withResolvers<Envelope>()
  new MessageValidator(hostPattern).validate(envelope, (error, message) =>
    error ? reject(error) : resolve(message),
  )
  return promise
}

/** A verifier that follows the documented lists of members. */
async function verified(envelope: Envelope): Promise<boolean> {
  const names =
    envelope.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const signed = names.filter((name) => name in envelope).map((name) => `${name}\n${envelope[name]}\n`)
  const { publicKey } = new X509Certificate((await call('GET', pathOf(envelope))).text)
  const digest = envelope.SignatureVersion === '2' ? 'sha256' : 'sha1'
  const signature = Buffer.from(envelope.Signature ?? '', 'base64')
  return verify(digest, Buffer.from(signed.join('')), publicKey, signature)
}

const pathOf = ({ SigningCertURL = '' }: Envelope) => new URL(SigningCertURL).pathname

async function subscribed(name: string) {
  await new Topics(stack().connection).put(topicArn(name), { signing: 'sns' })
  const input = { endpoint: `${receiver().url}/${name}`, confirmation: 'handshake' }
  expect((await call('POST', `/v1/topics/${name}/subscriptions`, input)).status).toBe(201)
  return received(name, 1)
}

async function received(name: string, count: number): Promise<Envelope> {
  const requests = await receiver().waitForRequests(count, `/${name}`)
  return JSON.parse(requests[count - 1]?.text ?? '{}') as Envelope
}

test('[70] sns-validator accepts a SubscriptionConfirmation, and the Notifications after it, of both versions', async () => {
  const confirmation = await subscribed('signed')
  expect(confirmation.Type).toBe('SubscriptionConfirmation')
  expect(await validated(confirmation, OUR_HOST)).toEqual(confirmation)
  const { pathname, search } = new URL(confirmation.SubscribeURL ?? '')
  expect(await call('GET', pathname + search)).toMatchObject({ status: 200 })
  const message = { message: 'zwölf', subject: 'Subject', attributes: { size: 3 } }
  await call('POST', '/v1/topics/signed/messages', message)
  const first = await received('signed', 2)
  expect([first.SignatureVersion, await validated(first, OUR_HOST)]).toEqual(['1', first])
  await new Topics(stack().connection).put(topicArn('signed'), { attributes: { SignatureVersion: '2' } })
  await call('POST', '/v1/topics/signed/messages', { message: 'x' })
  const second = await received('signed', 3)
  expect([second.SignatureVersion, await validated(second, OUR_HOST)]).toEqual(['2', second])
  expect(await Promise.all([first, second, confirmation].map(verified))).toEqual([true, true, true])
})

test('[70] it refuses changed messages, and our host unless it is configured', async () => {
  const confirmation = await subscribed('refused')
  const changed = { ...confirmation, Token: 'ab' }
  await expect(validated(changed, OUR_HOST)).rejects.toThrow('The message signature is invalid.')
  await expect(validated(confirmation)).rejects.toThrow('The certificate is located on an invalid domain.')
})

test('[71] it refuses our UnsubscribeConfirmation, which other verifiers accept', async () => {
  const confirmation = await subscribed('leaving')
  const { pathname, search } = new URL(confirmation.SubscribeURL ?? '')
  await call('GET', pathname + search)
  await call('POST', '/v1/topics/leaving/messages', { message: 'one' })
  const { UnsubscribeURL } = await received('leaving', 2)
  const link = new URL(UnsubscribeURL ?? '')
  expect((await call('GET', link.pathname + link.search)).status).toBe(200)
  const farewell = await received('leaving', 3)
  expect(farewell.Type).toBe('UnsubscribeConfirmation')
  expect(await verified(farewell)).toBe(true)
  await expect(validated(farewell, OUR_HOST)).rejects.toThrow('The message signature is invalid.')
})

test('[72] the certificate is served over https under the URL that messages name, and over http too', async () => {
  const confirmation = await subscribed('served')
  expect(confirmation.SigningCertURL).toMatch(
    /^https:\/\/localhost:\d+\/SimpleNotificationService-[0-9a-f]{32}\.pem$/,
  )
  const { status, headers, text } = await call('GET', pathOf(confirmation))
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'application/x-pem-file',
    'public, max-age=86400',
  ])
  expect(new X509Certificate(text).subject).toBe('CN=Fantail message signing')
  expect(await (await fetch(stack().api.url + pathOf(confirmation))).text()).toBe(text)
  const unknown = pathOf(confirmation).replace(/[0-9a-f]{32}/, 'f'.repeat(32))
  expect((await call('GET', unknown)).status).toBe(404)
})
