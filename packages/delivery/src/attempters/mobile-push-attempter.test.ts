/**
 * Public libraries check the requests: jose checks the tokens, http_ece the bodies for browsers, and
 * google-auth-library the request for a token of FCM.
 */
import { createPublicKey, type ECDH } from 'node:crypto'
import { createRequire } from 'node:module'
import { appleCredential, browserSubscription, firebaseCredential, vapidCredential } from '@fantail/test-kit'
import { JWT, OAuth2Client } from 'google-auth-library'
import { decodeJwt, importJWK, importSPKI, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createDevice,
  NOW,
  type Providers,
  reserved,
  startProviders,
} from '../mobile-push/mobile-push.fixture.ts'
import { DamagedDataError } from './attempter.ts'

interface Decoder {
  decrypt(body: Buffer, keys: { version: 'aes128gcm'; privateKey: ECDH; authSecret: Buffer }): Buffer
}

/** The package has no types. */
const { decrypt } = createRequire(import.meta.url)('http_ece') as Decoder

let providers: Providers

beforeAll(async () => {
  providers = await startProviders()
})
beforeEach(() => {
  providers.asked.length = 0
  providers.hold = undefined
  providers.reply = ({ path }) =>
    path === '/token' ? { status: 200, body: { access_token: 'at-1', expires_in: 3_600 } } : { status: 200 }
})
afterAll(() => providers.close())

const last = () => providers.asked.at(-1) ?? { path: '', headers: {}, body: Buffer.of() }
const sent = () => JSON.parse(last().body.toString())
const json = (texts: object) => ({ message: JSON.stringify(texts), structure: 'json' as const })
const publicKeyOf = (pem: string) =>
  importSPKI(String(createPublicKey(pem).export({ type: 'spki', format: 'pem' })), 'ES256')

/** The form with which Google's own client asks for a token. It is not sent. */
async function googleForm(account: { email: string; key: string }): Promise<URLSearchParams> {
  const client = new JWT({ ...account, scopes: ['https://www.googleapis.com/auth/firebase.messaging'] })
  const forms: URLSearchParams[] = []
  const take = async ({ data }: { data?: unknown }) => {
    forms.push(new URLSearchParams(String(data)))
    return { data: { access_token: 'at-1', expires_in: 3_600 } }
  }
  client.transporter.request = take as unknown as typeof client.transporter.request
  await client.authorize()
  return forms[0] ?? new URLSearchParams()
}

describe('FCM', () => {
  const account = firebaseCredential().PlatformCredential ?? ''
  const make = () =>
    createDevice(providers, { platform: 'GCM', credential: { credential: account }, token: 'tok' })
  let device: ReturnType<typeof make>
  beforeEach(() => {
    device = make()
    return device.close
  })
  const fails = (status: number, errorCode: string, headers?: Record<string, string>) => {
    const { reply } = providers
    const body = { error: { code: status, status: 'X', details: [{ '@type': 'FcmError', errorCode }] } }
    providers.reply = (asked) =>
      asked.path === '/token' ? reply(asked) : { status, body, ...(headers && { headers }) }
  }

  test('an attempt without an answer ends within the timeout of the settings', async () => {
    const credential = { credential: account }
    const hurried = createDevice(providers, {
      platform: 'GCM',
      credential,
      token: 'tok',
      attemptTimeoutMs: 50,
    })
    providers.reply = () => undefined
    expect(await hurried.push({ message: 'hello' })).toMatchObject({ kind: 'failure', error: 'timeout' })
    await hurried.close()
  })

  test('a damaged application counts no attempt, and a Redis that fails counts one', async () => {
    device.state.damage = new DamagedDataError('the application cannot be read')
    const credential = device.attempter.credentialOf(device.target)
    expect(await device.push({ message: 'x' })).toMatchObject({ kind: 'misconfigured', credential })
    device.state.damage = new Error('no answer')
    expect(await device.push({ message: 'x' })).toMatchObject({ kind: 'failure', error: 'storage' })
    expect(providers.asked).toEqual([])
  })

  test('a service account is exchanged once, at the address of the settings', async () => {
    for (let i = 0; i < 2; i++)
      expect(await device.push({ message: 'hello' })).toMatchObject({
        statusCode: 200,
        resultClass: 'delivered',
      })
    const [exchange, ...sends] = providers.asked
    expect(providers.asked.map(({ path }) => path)).toEqual([
      '/token',
      '/v1/projects/shop-4711/messages:send',
      '/v1/projects/shop-4711/messages:send',
    ])
    for (const { headers } of sends) expect(headers.authorization).toBe('Bearer at-1')
    expect(sent()).toEqual({
      message: { token: 'tok', data: { default: 'hello' }, android: { ttl: '2419200s' } },
    })
    const assertion = new URLSearchParams(exchange?.body.toString()).get('assertion') ?? ''
    const { private_key: pem } = JSON.parse(account)
    const key = await importSPKI(
      String(createPublicKey(pem).export({ type: 'spki', format: 'pem' })),
      'RS256',
    )
    const { payload, protectedHeader } = await jwtVerify(assertion, key, { currentDate: new Date(NOW) })
    expect(protectedHeader).toMatchObject({ alg: 'RS256', kid: 'a1b2c3' })
    expect(payload).toMatchObject({
      iss: 'sender@shop-4711.iam.gserviceaccount.com',
      aud: `${providers.url}/token`,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      exp: NOW / 1_000 + 3_600,
    })
    device.state.now += 56 * 60_000
    await device.push({ message: 'later' })
    expect(providers.asked.filter(({ path }) => path === '/token')).toHaveLength(2)
  })

  test('[404] fcmV1Message passes unchanged, with the token', async () => {
    const message = { notification: { title: 't' }, android: { ttl: '5s' }, apns: { payload: {} } }
    await device.push(json({ default: 'd', GCM: JSON.stringify({ fcmV1Message: { message } }) }))
    expect(sent()).toEqual({ message: { ...message, token: 'tok' } })
  })

  test('an older document is written again, and a time to live counts from the publish', async () => {
    device.state.now = NOW + 10_000
    const old = {
      notification: { title: 't', body: 'b' },
      data: { n: 5, s: 'x' },
      priority: 'high',
      time_to_live: 60,
    }
    await device.push(json({ default: 'd', GCM: JSON.stringify(old) }))
    expect(sent().message).toEqual({
      token: 'tok',
      notification: { title: 't', body: 'b' },
      data: { n: '5', s: 'x' },
      android: { priority: 'HIGH', ttl: '50s' },
    })
    await device.push({
      ...json({ default: 'd', GCM: JSON.stringify(old) }),
      attributes: reserved({ 'FCM.TTL': '0' }),
    })
    expect(sent().message.android.ttl).toBe('0s')
  })

  test('google-auth-library asks for the token in the same way, and verifies what is signed', async () => {
    device.state.now = Date.now()
    await device.push({ message: 'hello', publishedAt: Date.now() })
    const [asked] = providers.asked
    const ours = new URLSearchParams(String(asked?.body))
    const { client_email: email, private_key: key } = JSON.parse(account)
    const theirs = await googleForm({ email, key })
    expect(asked?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect([...ours.keys()]).toEqual([...theirs.keys()])
    expect(ours.get('grant_type')).toBe(theirs.get('grant_type'))
    const [own, google] = [ours, theirs].map((form) => decodeJwt(form.get('assertion') ?? ''))
    const { iss, scope } = google ?? {}
    expect(own).toMatchObject({ iss, scope, aud: `${providers.url}/token` })
    expect(Number(own?.exp) - Number(own?.iat)).toBe(Number(google?.exp) - Number(google?.iat))
    const certificates = { a1b2c3: String(createPublicKey(key).export({ type: 'spki', format: 'pem' })) }
    const assertion = ours.get('assertion') ?? ''
    const audience = `${providers.url}/token`
    const verify = (wanted: string) =>
      new OAuth2Client().verifySignedJwtWithCertsAsync(assertion, certificates, wanted, [email])
    expect((await verify(audience)).getPayload()).toMatchObject({ iss: email })
    await expect(verify('https://elsewhere.example')).rejects.toThrow('Wrong recipient')
  })

  test('[402] a notification whose time is over is not sent', async () => {
    device.state.now = NOW + 60_000
    const result = await device.push({ message: 'late', attributes: reserved({ 'GCM.TTL': '60' }) })
    expect(result).toMatchObject({ kind: 'failure', error: 'notification_expired', permanent: true })
    expect(providers.asked).toEqual([])
  })

  test.each([
    [404, 'UNREGISTERED', ['tok'], { error: 'token_refused', permanent: true, statusCode: 404 }],
    [403, 'SENDER_ID_MISMATCH', ['tok'], { error: 'token_refused', permanent: true }],
    [400, 'INVALID_ARGUMENT', [], { resultClass: 'permanent' }],
    [401, 'THIRD_PARTY_AUTH_ERROR', [], { kind: 'misconfigured' }],
    [403, 'PERMISSION_DENIED', [], { kind: 'misconfigured' }],
    [503, 'UNAVAILABLE', [], { resultClass: 'retry' }],
    [500, 'INTERNAL', [], { resultClass: 'retry' }],
    [429, 'QUOTA_EXCEEDED', [], { resultClass: 'retry', retryAfterSeconds: 60 }],
    [404, '', [], { resultClass: 'retry' }],
  ])('[399] %i %s', async (status, code, disabled, result) => {
    fails(status, code)
    expect(await device.push({ message: 'hello' })).toMatchObject(result)
    expect(device.state.disabled).toEqual(disabled)
  })

  test('Retry-After of a throttle is kept', async () => {
    fails(429, 'QUOTA_EXCEEDED', { 'retry-after': '7' })
    expect(await device.push({ message: 'hello' })).toMatchObject({
      resultClass: 'retry',
      retryAfterSeconds: 7,
    })
  })

  test('a refused service account is a broken credential, an exchange that fails is retried', async () => {
    providers.reply = () => ({ status: 400, body: { error: 'invalid_grant' } })
    const credential = device.attempter.credentialOf(device.target)
    expect(await device.push({ message: 'x' })).toMatchObject({ kind: 'misconfigured', credential })
    expect(JSON.stringify(await device.push({ message: 'x' }))).not.toContain('PRIVATE KEY')
    providers.reply = () => ({ status: 503 })
    expect(await device.push({ message: 'x' })).toMatchObject({ kind: 'response', statusCode: 503 })
    providers.reply = ({ path }) =>
      path === '/token' ? { status: 200, body: { access_token: 'a' } } : { status: 200 }
    expect(await device.push({ message: 'x' })).toMatchObject({ resultClass: 'delivered' })
  })

  test('a body that is no notification fails permanently, unsent', async () => {
    for (const GCM of [
      'no JSON',
      '[]',
      '{"data":"text"}',
      JSON.stringify({ data: { x: 'y'.repeat(4_096) } }),
    ])
      expect(await device.push(json({ default: 'd', GCM }))).toMatchObject({
        error: 'invalid_record',
        permanent: true,
      })
    expect(providers.asked).toEqual([])
  })

  test('sends nothing to a disabled or deleted endpoint', async () => {
    const disabled = { kind: 'failure', error: 'endpoint_disabled', permanent: true }
    device.state.endpoint = { ...device.state.endpoint, enabled: false }
    expect(await device.push({ message: 'x' })).toMatchObject(disabled)
    expect(device.state.published).toEqual([])
    device.state.endpoint = { ...device.state.endpoint, isEventOwed: true }
    expect(await device.push({ message: 'x' })).toMatchObject(disabled)
    expect(device.state.published).toEqual([device.state.endpoint.arn])
    device.state.application = { ...device.state.application, attributes: { Enabled: 'false' } }
    expect(await device.push({ message: 'x' })).toMatchObject(disabled)
    expect(providers.asked).toEqual([])
  })
})

describe('APNs', () => {
  const given = appleCredential()
  const credential = {
    principal: given.PlatformPrincipal ?? '',
    credential: given.PlatformCredential ?? '',
    teamId: given.ApplePlatformTeamID ?? '',
    bundleId: given.ApplePlatformBundleID ?? '',
  }
  const make = () => createDevice(providers, { platform: 'APNS', credential, token: 'ab12' })
  let device: ReturnType<typeof make>
  beforeEach(() => {
    device = make()
    return device.close
  })
  const tokens = () =>
    providers.asked.map(({ headers }) => String(headers.authorization).replace('bearer ', ''))

  test('a text is an alert for the bundle, under a signed token', async () => {
    expect(await device.push({ message: 'hello' })).toMatchObject({
      statusCode: 200,
      resultClass: 'delivered',
    })
    expect(sent()).toEqual({ aps: { alert: 'hello' } })
    expect(last()).toMatchObject({
      path: '/3/device/ab12',
      headers: {
        'apns-topic': 'com.example.shop',
        'apns-push-type': 'alert',
        'apns-priority': '10',
        'apns-expiration': String(NOW / 1_000 + 28 * 86_400),
      },
    })
    const verified = await jwtVerify(tokens()[0] ?? '', await publicKeyOf(credential.credential))
    expect(verified).toMatchObject({
      payload: { iss: 'DEF123GHIJ', iat: NOW / 1_000 },
      protectedHeader: { alg: 'ES256', kid: 'ABC123DEFG' },
    })
  })

  test('[403] content-available alone is a background push, anything else an alert', async () => {
    const typeOf = async (aps: object) => {
      await device.push(json({ default: 'd', APNS: JSON.stringify({ aps }) }))
      return [last().headers['apns-push-type'], last().headers['apns-priority']]
    }
    expect(await typeOf({ 'content-available': 1 })).toEqual(['background', '5'])
    expect(await typeOf({ 'content-available': 1, alert: 'x' })).toEqual(['alert', '10'])
  })

  test('reserved attributes become headers', async () => {
    const attributes = reserved({
      'APNS.PUSH_TYPE': 'voip',
      'APNS.TOPIC': 'a.voip',
      'APNS.COLLAPSE_ID': 'c',
      'APNS.TTL': '0',
    })
    await device.push({ message: 'x', attributes })
    expect(last().headers).toMatchObject({
      'apns-push-type': 'voip',
      'apns-topic': 'a.voip',
      'apns-collapse-id': 'c',
      'apns-expiration': '0',
    })
    const bad = await device.push({ message: 'x', attributes: reserved({ 'APNS.TOPIC': 'a\nb' }) })
    expect(bad).toMatchObject({ error: 'invalid_record', permanent: true })
  })

  test('[405] one token serves for 45 minutes', async () => {
    for (const minutes of [0, 20, 44, 46]) {
      device.state.now = NOW + minutes * 60_000
      await device.push({ message: 'x' })
    }
    const issued = tokens().map((token) => Number(decodeJwt(token).iat) - NOW / 1_000)
    expect(issued).toEqual([0, 0, 0, 46 * 60])
  })

  test('[406] ExpiredProviderToken makes another token, and the same attempt delivers', async () => {
    providers.reply = () =>
      providers.asked.length === 1
        ? { status: 403, body: { reason: 'ExpiredProviderToken' } }
        : { status: 200 }
    expect(await device.push({ message: 'x' })).toMatchObject({ statusCode: 200, resultClass: 'delivered' })
    expect(new Set(tokens()).size).toBe(2)
  })

  test.each([
    [410, 'Unregistered', ['ab12'], { error: 'token_refused', permanent: true, statusCode: 410 }],
    [400, 'BadDeviceToken', ['ab12'], { error: 'token_refused', permanent: true }],
    [400, 'PayloadEmpty', [], { resultClass: 'permanent' }],
    [413, 'PayloadTooLarge', [], { resultClass: 'permanent' }],
    [403, 'InvalidProviderToken', [], { kind: 'misconfigured' }],
    [400, 'TopicDisallowed', [], { kind: 'misconfigured' }],
    [429, 'TooManyRequests', [], { resultClass: 'retry', retryAfterSeconds: 60 }],
    [503, 'ServiceUnavailable', [], { resultClass: 'retry' }],
    [410, undefined, [], { resultClass: 'retry' }],
    [400, undefined, [], { resultClass: 'retry' }],
  ])('[399] %i %s', async (status, reason, disabled, result) => {
    providers.reply = () => ({ status, body: { reason } })
    expect(await device.push({ message: 'x' })).toMatchObject(result)
    expect(device.state.disabled).toEqual(disabled)
  })

  test('interim answers without an end cost the connection, and the attempt is made again', async () => {
    const before = providers.sessions()
    providers.reply = () => ({ status: 200, interim: providers.asked.length === 2 ? 1_000 : 3 })
    expect(await device.push({ message: 'x' })).toMatchObject({ statusCode: 200 })
    expect(await device.push({ message: 'y' })).toMatchObject({ error: 'connection_reset', permanent: false })
    expect(await device.push({ message: 'z' })).toMatchObject({ statusCode: 200 })
    expect(providers.sessions() - before).toBe(2)
  })

  test('a connection is left for another one after an hour', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const before = providers.sessions()
    for (const waitMs of [0, 3_599_000, 2_000]) {
      vi.advanceTimersByTime(waitMs)
      expect(await device.push({ message: 'x' })).toMatchObject({ statusCode: 200 })
    }
    vi.useRealTimers()
    expect(providers.sessions() - before).toBe(2)
  })

  test('a long answer is cut, and its status counts', async () => {
    const body = { reason: 'x'.repeat(10_000_000) }
    providers.reply = () => ({ status: 503, body })
    expect(await device.push({ message: 'x' })).toMatchObject({ statusCode: 503, resultClass: 'retry' })
  })

  test('after GOAWAY the next notification goes over another connection', async () => {
    await device.push({ message: 'x' })
    providers.goAway()
    await expect.poll(async () => (await device.push({ message: 'y' })).kind).toBe('response')
  })

  test('GOAWAY under load repeats at most what was under way', async () => {
    const WHILE_UNDER_WAY = 40
    const answers: (() => void)[] = []
    providers.hold = (answer) => void answers.push(answer)
    const idOf = (asked: { headers: object }) => String((asked.headers as Record<string, string>)['apns-id'])
    const push = (messageId: string) => device.push({ message: messageId, messageId })
    const first = Array.from({ length: WHILE_UNDER_WAY }, (_, i) => push(`a${i}`))
    await expect.poll(() => answers.length).toBe(WHILE_UNDER_WAY)
    providers.goAway()
    // The server still answers the requests that it has. New requests use another connection.
    const second = Array.from({ length: WHILE_UNDER_WAY }, (_, i) => push(`b${i}`))
    await expect.poll(() => answers.length).toBeGreaterThanOrEqual(2 * WHILE_UNDER_WAY)
    providers.hold = undefined
    for (const answer of answers) answer()
    const results = await Promise.all([...first, ...second])
    expect(results.every(({ kind }) => kind === 'response')).toBe(true)
    const ids = providers.asked.map(idOf)
    expect(ids.length).toBe(new Set(ids).size)
    expect(ids.length).toBe(2 * WHILE_UNDER_WAY)
  })

  test('a connection that breaks under load fails what was under way, and nothing else', async () => {
    providers.reply = () => undefined
    const lost = Array.from({ length: 20 }, (_, i) => device.push({ message: `${i}` }))
    await expect.poll(() => providers.asked.length).toBe(20)
    providers.cut()
    for (const result of await Promise.all(lost))
      expect(result).toMatchObject({ kind: 'failure', error: 'connection_reset', permanent: false })
    providers.reply = () => ({ status: 200 })
    expect(await device.push({ message: 'next' })).toMatchObject({ statusCode: 200 })
  })

  test('the address guard checks the host of the settings', async () => {
    const denied = createDevice(providers, { platform: 'APNS', credential, token: 'ab', deny: ['127.0.0.1'] })
    const result = await denied.push({ message: 'x' })
    expect(result).toMatchObject({ kind: 'misconfigured', detail: expect.stringContaining('127.0.0.1') })
    expect(providers.asked).toEqual([])
    await denied.close()
  })

  test('a connection without answers is left for another one', async () => {
    const hurried = createDevice(providers, {
      platform: 'APNS',
      credential,
      token: 'ab',
      attemptTimeoutMs: 50,
    })
    providers.reply = () => undefined
    expect(await hurried.push({ message: 'x' })).toMatchObject({ kind: 'failure', error: 'timeout' })
    providers.reply = () => ({ status: 200 })
    await expect.poll(async () => (await hurried.push({ message: 'y' })).kind).toBe('response')
    expect(providers.sessions()).toBeGreaterThanOrEqual(2)
    await hurried.close()
  })

  test('no server is a failure that is retried', async () => {
    const gone = createDevice(
      { ...providers, appleUrl: 'http://127.0.0.1:1' },
      { platform: 'APNS', credential, token: 'ab' },
    )
    expect(await gone.push({ message: 'x' })).toMatchObject({ kind: 'failure', permanent: false })
    await gone.close()
  })
})

describe('Web Push', () => {
  const given = vapidCredential()
  const credential = {
    principal: given.PlatformPrincipal ?? '',
    credential: given.PlatformCredential ?? '',
    subject: given.WebPushSubject ?? '',
  }

  test('[407] http_ece reads the body, and the VAPID token verifies', async () => {
    const browser = browserSubscription(`${providers.url}/send/1`)
    const device = createDevice(providers, { platform: 'WEBPUSH', credential, token: browser.token })
    providers.reply = () => ({ status: 201 })
    for (const message of ['hello', 'ü'.repeat(1_996)]) {
      expect(await device.push({ message })).toMatchObject({ statusCode: 201, resultClass: 'delivered' })
      const keys = { version: 'aes128gcm' as const, privateKey: browser.pair, authSecret: browser.auth }
      expect(decrypt(last().body, keys).toString()).toBe(message)
      expect(last().body.length).toBeLessThanOrEqual(4_096)
    }
    expect(last().headers).toMatchObject({ ttl: '2419200', 'content-encoding': 'aes128gcm' })
    const [, token = '', key = ''] =
      /^vapid t=([^,]+), k=(.+)$/.exec(String(last().headers.authorization)) ?? []
    expect(key).toBe(credential.principal)
    const point = Buffer.from(key, 'base64url')
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
    const jwk = await importJWK({ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, 'ES256')
    const { payload } = await jwtVerify(token, jwk, { currentDate: new Date(NOW) })
    expect(payload).toMatchObject({ aud: providers.url, sub: 'mailto:ops@example.com' })
    expect(await device.push({ message: 'x'.repeat(3_994) })).toMatchObject({ error: 'invalid_record' })
    await device.close()
  })

  test.each([
    [404, true, { error: 'token_refused', permanent: true }],
    [410, true, { error: 'token_refused', permanent: true }],
    [403, false, { kind: 'misconfigured' }],
    [413, false, { resultClass: 'permanent' }],
    [429, false, { resultClass: 'retry', retryAfterSeconds: 60 }],
    [502, false, { resultClass: 'retry' }],
  ])('%i', async (status, isDead, result) => {
    const { token } = browserSubscription(`${providers.url}/send/1`)
    const device = createDevice(providers, { platform: 'WEBPUSH', credential, token })
    providers.reply = () => ({ status })
    expect(await device.push({ message: 'x' })).toMatchObject(result)
    expect(device.state.disabled).toEqual(isDead ? [token] : [])
    await device.close()
  })
})
