/** Access tokens from a real token server, which may be hostile. */
import { type Receiver, type Reply, startReceiver } from '@fantail/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createHttpSender, type HttpSender } from '../http/http-sender.ts'
import { compileOAuth } from '../outbound/oauth-client.ts'
import { EndpointTokens } from './endpoint-tokens.ts'

const SECRET = 's3cret that must stay'
let server: Receiver
let sender: HttpSender

beforeAll(() => {
  sender = createHttpSender({ allowPrivate: true })
})
afterAll(() => sender.close(0))
beforeEach(async () => {
  server = await startReceiver()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.close()
})

const clientOf = (set: object = {}) =>
  compileOAuth(
    { tokenUrl: `${server.url}/token`, clientId: 'id', clientSecret: SECRET, name: 'n', ...set },
    { proxy: undefined },
  )
const answer = (body: object, status = 200): Reply => ({ status, body: JSON.stringify(body) })
/**
 * Stops the clock. The returned function moves it forward. The time is in whole ms, because sums with fractions are
 * rounded and can miss a bound.
 */
const stopClock = () => {
  let now = Math.ceil(performance.now())
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return (ms: number) => {
    now += ms
  }
}
const tokens = (attemptMs = 10_000) => new EndpointTokens(sender, attemptMs)

test('a thousand attempts share one request, by form and Basic as the RFC has them', async () => {
  server.respond('/token', answer({ access_token: 'a', token_type: 'Bearer', expires_in: 3_600 }))
  const own = tokens()
  const client = clientOf({ clientId: 'a b:ü', scope: 'read write', audience: 'https://api.example' })
  const got = await Promise.all(Array.from({ length: 1_000 }, () => own.get(client)))
  expect(new Set(got)).toEqual(new Set(['a']))
  const [request, ...others] = server.requests
  expect(others).toEqual([])
  expect(Object.fromEntries(new URLSearchParams(request?.text))).toEqual({
    grant_type: 'client_credentials',
    scope: 'read write',
    audience: 'https://api.example',
  })
  const basic = atob(request?.headers.authorization?.replace('Basic ', '') ?? '')
  expect(basic).toBe('a+b%3A%C3%BC:s3cret+that+must+stay')
})

test.each([
  ['an hour, replaced a minute before its end', { expires_in: 3_600 }, 3_540],
  ['a minute as text, replaced when a tenth is left', { expires_in: '60' }, 54],
  ['no time, kept five minutes', {}, 270],
  ['a time that is over, kept ten seconds', { expires_in: -1 }, 9],
  ['no number, kept five minutes', { expires_in: 'soon' }, 270],
  ['a century, kept a day', { expires_in: 3e9 }, 86_340],
])('a token for %s', async (_life, members, seconds) => {
  server.respond('/token', (_, n) => answer({ access_token: `t${n}`, ...members }))
  const pass = stopClock()
  const own = tokens()
  const got = [await own.get(clientOf())]
  pass(seconds * 1_000 - 1)
  got.push(await own.get(clientOf()))
  pass(1)
  got.push(await own.get(clientOf()))
  expect(got).toEqual(['t1', 't1', 't2'])
})

test.each<[string, Reply, RegExp]>([
  ['refuses the client', answer({ error: 'invalid_client' }, 401), /answered 401 invalid_client$/],
  ['repeats a secret in its error', answer({ error: SECRET }, 400), /answered 400$/],
  ['leads elsewhere', { status: 302, headers: { location: '/other' } }, /answered 302$/],
  ['answers no JSON', { body: 'hello' }, /no usable bearer token$/],
  ['answers a list', { body: '["a"]' }, /no usable bearer token$/],
  ['answers an empty token', answer({ access_token: '' }), /no usable bearer token$/],
  ['answers a token that ends the header', answer({ access_token: 'a\r\nHost: b' }), /no usable/],
  ['answers a token of another type', answer({ access_token: 'a', token_type: 'mac' }), /no usable/],
  ['answers more than fits', answer({ access_token: 'a'.repeat(20_000) }), /no usable/],
  ['answers without end', { body: 'x'.repeat(200_000) }, /no usable|did not answer/],
  ['hangs', { hang: 'beforeHeaders' }, /did not answer: timeout$/],
  ['hangs within its answer', { hang: 'midBody', body: '{"access_token":"a"}' }, /did not answer: timeout$/],
  ['resets the connection', { reset: true }, /did not answer: connection_reset$/],
  ['has a fault', answer({}, 500), /answered 500$/],
])('a token server that %s gives none, and the error has no secret', async (_what, reply, text) => {
  server.respond('/token', reply)
  const failed = await tokens(500)
    .get(clientOf())
    .catch((error: unknown) => error)
  expect(String(failed)).toMatch(text)
  expect(String(failed)).not.toMatch(/s3cret|aaaa/)
  server.respond('/token', answer({ access_token: 'works' }))
  expect(await tokens().get(clientOf())).toBe('works')
})

test('a failure holds for a second, so that many subscriptions do not all ask', async () => {
  server.respond('/token', (_, n) => (n === 1 ? { status: 503 } : answer({ access_token: 'a' })))
  const pass = stopClock()
  const own = tokens()
  await expect(own.get(clientOf())).rejects.toThrow('answered 503')
  pass(999)
  await expect(own.get(clientOf())).rejects.toThrow('answered 503')
  expect(server.requests).toHaveLength(1)
  pass(1)
  expect(await own.get(clientOf())).toBe('a')
})

test('an address that the guard refuses is not asked', async () => {
  const guarded = createHttpSender({ allowPrivate: false })
  const asked = new EndpointTokens(guarded, 1_000).get(clientOf())
  await expect(asked).rejects.toThrow('did not answer: forbidden_address')
  await guarded.close(0)
  expect(server.connections().accepted).toBe(0)
})

test('a refused token is replaced once, and not again within half a minute', async () => {
  server.respond('/token', (_, n) => answer({ access_token: `t${n}`, expires_in: 3_600 }))
  const pass = stopClock()
  const own = tokens()
  const client = clientOf()
  const first = await own.get(client)
  expect([own.renew(client, first), await own.get(client)]).toEqual([true, 't2'])
  // An attempt that began with the first token.
  expect([own.renew(client, first), await own.get(client)]).toEqual([true, 't2'])
  expect(own.renew(client, 't2')).toBe(false)
  pass(30_000)
  expect([own.renew(client, 't2'), await own.get(client)]).toEqual([true, 't3'])
})
