import { createHash } from 'node:crypto'
import { type Receiver, type Reply, startReceiver } from '@fantail/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Credentials } from './credentials.ts'
import type { FurtherRequest } from './http-request.ts'
import { createTestSender, type TestSender } from './http-sender.fixture.ts'

const USER = 'Mufasa'
const PASSWORD = 'Circle of Life'

describe('over HTTP', () => {
  let hooks: Receiver
  let sender: TestSender
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const post = (userinfo: string, path = '/in') =>
    sender.attempt({
      url: `http://${userinfo}127.0.0.1:${hooks.port}${path}`,
      headers: ['x', 'y'],
      body: 'hello',
    })
  const sent = () => hooks.requests.map(({ headers }) => headers.authorization)

  beforeEach(async () => {
    hooks = await startReceiver()
    sender = createTestSender({ allowPrivate: true, timeoutMs: 5_000 })
    const challenge = { 'www-authenticate': 'Basic realm="hooks"' }
    hooks.respond('/in', ({ headers }) =>
      headers.authorization === basic('user:p@ss:ü') ? { status: 204 } : { status: 401, headers: challenge },
    )
  })

  afterEach(async () => {
    await sender.close(0)
    await hooks.close()
  })

  test('[51] the first request goes without, a challenge is answered, later requests carry it at once', async () => {
    expect(await post('user:p%40ss%3A%C3%BC@')).toMatchObject({ statusCode: 204 })
    expect(await post('user:p%40ss%3A%C3%BC@')).toMatchObject({ statusCode: 204 })
    expect(sent()).toEqual([undefined, basic('user:p@ss:ü'), basic('user:p@ss:ü')])
    expect(hooks.requests.map(({ text, headers }) => [text, headers.x])).toEqual(
      Array(3).fill(['hello', 'y']),
    )
    expect(hooks.requests[1]?.headers.host).toBe(`127.0.0.1:${hooks.port}`)
  })

  test('wrong credentials are a 401 after one more request, and after one when known to be wanted', async () => {
    expect(await post('user:wrong@')).toMatchObject({ statusCode: 401 })
    expect(sent()).toEqual([undefined, basic('user:wrong')])
    expect(await post('user:wrong@')).toMatchObject({ statusCode: 401 })
    expect(sent()).toEqual([undefined, basic('user:wrong'), basic('user:wrong')])
  })

  test('without credentials, or without a challenge that is known, a 401 is the answer', async () => {
    expect(await post('')).toMatchObject({ statusCode: 401 })
    hooks.respond('/bearer', { status: 401, headers: { 'www-authenticate': 'Bearer realm="x"' } })
    expect(await post('user:pass@', '/bearer')).toMatchObject({ statusCode: 401 })
    hooks.respond('/mute', { status: 401 })
    expect(await post('user:pass@', '/mute')).toMatchObject({ statusCode: 401 })
    expect(sent()).toEqual([undefined, undefined, undefined])
  })

  test('a challenge with a body past the bound is answered too', async () => {
    await sender.close(0)
    sender = createTestSender({ allowPrivate: true, responseBytesMax: 10 })
    const headers = { 'www-authenticate': 'Basic' }
    hooks.respond('/big', (request) =>
      request.headers.authorization ? { status: 200 } : { status: 401, headers, body: 'x'.repeat(100_000) },
    )
    expect(await post('user:pass@', '/big')).toMatchObject({ statusCode: 200 })
  })

  test('no failure shows them', async () => {
    const url = (host: string) => `http://user:s3cret@${host}/`
    const details = await Promise.all(
      ['127.0.0.1:1', 'none.invalid', '[::1', '127.0.0.1:x'].map(async (host) => {
        const result = await sender.attempt({ url: url(host), headers: [], body: '' })
        return result.kind === 'failure' ? result.detail : 'no failure'
      }),
    )
    expect(details.join()).not.toMatch(/s3cret|user|no failure/)
  })

  test('Digest is answered, its nonce used again with a higher count, and renewed when stale', async () => {
    let nonce = 'first'
    hooks.respond('/digest', ({ headers, path }) => {
      const given = parameters(headers.authorization)
      const expected = digestOf('md5', { ...given, path, nonce })
      const fine = given.nonce === nonce && given.response === expected
      return fine
        ? {}
        : {
            status: 401,
            headers: { 'www-authenticate': `Digest realm="r", qop="auth,auth-int", nonce="${nonce}"` },
          }
    })
    const userinfo = `${USER}:${encodeURIComponent(PASSWORD)}@`
    expect(await post(userinfo, '/digest?a=1')).toMatchObject({ statusCode: 200 })
    expect(await post(userinfo, '/digest?a=1')).toMatchObject({ statusCode: 200 })
    nonce = 'second'
    expect(await post(userinfo, '/digest?a=1')).toMatchObject({ statusCode: 200 })
    const uses = sent().map((header) => parameters(header))
    expect(uses.map((use) => [use.nonce, use.nc])).toEqual([
      [undefined, undefined],
      ['first', '00000001'],
      ['first', '00000002'],
      ['first', '00000003'],
      ['second', '00000001'],
    ])
    expect(await post(`${USER}:wrong@`, '/digest')).toMatchObject({ statusCode: 401 })
  })

  /** A server that accepts each nonce once. `next`: its answers give the next nonce. */
  function answerOneTimeNonces(path: string, next: boolean) {
    const valid = new Set<string>()
    let granted = 0
    const grant = () => {
      const nonce = `nonce ${granted++}`
      valid.add(nonce)
      return nonce
    }
    hooks.respond(path, ({ headers, path }): Reply => {
      const given = parameters(headers.authorization)
      const { nonce = '' } = given
      if (valid.delete(nonce) && given.response === digestOf('md5', { ...given, path, nonce }))
        return next ? { headers: { 'authentication-info': `nextnonce="${grant()}"` } } : {}
      const challenge = `Digest realm="r", qop="auth", nonce="${grant()}"`
      return { status: 401, headers: { 'www-authenticate': challenge } }
    })
  }

  test.each([
    ['twice as many requests', false, 80],
    ['one challenge for each request at a time, where answers give the next nonce', true, 48],
  ])('nonces that are good for one request cost %s', async (_, next, requestsMax) => {
    answerOneTimeNonces('/once', next)
    const userinfo = `${USER}:${encodeURIComponent(PASSWORD)}@`
    for (let n = 0; n < 40; n += 8) {
      const results = await Promise.all(Array.from({ length: 8 }, () => post(userinfo, '/once')))
      expect(new Set(results.map((result) => 'statusCode' in result && result.statusCode))).toEqual(
        new Set([200]),
      )
    }
    expect(hooks.requests.length).toBeLessThanOrEqual(requestsMax)
  })

  test('a caller’s next request answers the challenge of its attempt', async () => {
    answerOneTimeNonces('/once', false)
    const url = `http://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${hooks.port}/once`
    const request = { url, headers: [], body: '' }
    const again = () =>
      new Promise<FurtherRequest>((resolve, reject) =>
        sender.send(request, (result) => reject(new Error(JSON.stringify(result))), resolve),
      )
    const asked = [await again(), await again()]
    expect(asked).toMatchObject(Array(2).fill({ cause: 'challenge', challenges: 1, resets: 0 }))
    expect(hooks.requests).toHaveLength(2)
    for (const earlier of asked)
      expect(await sender.attempt({ ...request, earlier })).toMatchObject({ statusCode: 200 })
  })

  test('wrong credentials end the attempt after one answered challenge', async () => {
    answerOneTimeNonces('/once', false)
    const url = `http://${USER}:wrong@127.0.0.1:${hooks.port}/once`
    const request = { url, headers: [], body: '' }
    const next = (earlier?: FurtherRequest) =>
      new Promise((resolve) => sender.send({ ...request, earlier }, resolve, resolve))
    const first = (await next()) as FurtherRequest
    expect(first).toMatchObject({ cause: 'challenge' })
    expect(await next(first)).toMatchObject({ statusCode: 401 })
  })

  function digestOf(hash: string, given: Record<string, string | undefined>): string {
    const digest = (text: string) => createHash(hash).update(text).digest('hex')
    const secret = digest(`${USER}:r:${PASSWORD}`)
    const request = digest(`POST:${given.path}`)
    return digest(`${secret}:${given.nonce}:${given.nc}:${given.cnonce}:${given.qop}:${request}`)
  }
})

function parameters(header: string | undefined): Record<string, string | undefined> {
  const found = (header ?? '').matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]+))/g)
  return Object.fromEntries([...found].map(([, name, quoted, plain]) => [name, quoted ?? plain]))
}

describe('challenges', () => {
  const REALM = 'realm="http-auth@example.org"'
  const NONCE = 'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"'
  const OPAQUE = 'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'

  test('the stronger algorithm of several is taken, as in RFC 7616 §3.9.1', () => {
    const credentials = new Credentials(USER, PASSWORD)
    const md5 = `Digest ${REALM}, qop="auth, auth-int", algorithm=MD5, ${NONCE}, ${OPAQUE}`
    const sha = `Digest ${REALM}, qop="auth, auth-int", algorithm=SHA-256, ${NONCE}, ${OPAQUE}`
    const challenge = credentials.challenge([md5, sha, 'Basic realm="x"'], undefined)
    const given = parameters(credentials.authorization('GET', '/dir/index.html', challenge)?.header)
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    // The middle of the hashed text. The client nonce is fixed in the RFC's example and random here.
    const middle = `7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v:00000001:${given.cnonce}:auth`
    const secret = sha256('Mufasa:http-auth@example.org:Circle of Life')
    expect(given.response).toBe(sha256(`${secret}:${middle}:${sha256('GET:/dir/index.html')}`))
    expect(given).toMatchObject({ algorithm: 'SHA-256', qop: 'auth', uri: '/dir/index.html', username: USER })
    expect(given.opaque).toBe('FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS')
  })

  test('without qop the old formula holds (RFC 2069)', () => {
    const credentials = new Credentials(USER, 'Circle Of Life')
    const challenge = credentials.challenge(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
      undefined,
    )
    const given = parameters(credentials.authorization('GET', '/dir/index.html', challenge)?.header)
    expect(given.response).toBe('670fd8c2df070c60b045671b8b24ff02')
    expect(given.nc).toBeUndefined()
  })

  test.each([
    ['', false],
    ['Negotiate', false],
    ['Digest realm="x"', false],
    ['Digest realm="x", nonce="n", algorithm=SHA-512-256', false],
    ['Digest realm="x", nonce="n", algorithm=constructor', false],
    ['Digest realm="x", nonce="n", algorithm=__proto__', false],
    ['Digest realm="x", nonce="n", qop="auth-int"', false],
    ['Negotiate abc==, Basic realm="a, b"', true],
    ['basic', true],
    ['Digest realm="a \\"b\\"", nonce="n"', true],
  ])('%s is answered: %s', (header, answered) => {
    const credentials = new Credentials(USER, PASSWORD)
    const challenge = credentials.challenge(header, undefined)
    expect(challenge !== undefined).toBe(answered)
    expect(credentials.authorization('POST', '/', challenge) !== undefined).toBe(answered)
  })

  test('are answered once: a challenge to an answered request is not', () => {
    const credentials = new Credentials(USER, PASSWORD)
    for (const header of ['Digest realm="x", nonce="n"', 'Basic']) {
      const sent = credentials.authorization('POST', '/', credentials.challenge(header, undefined))
      expect(sent?.use).toBe(1)
      expect(credentials.challenge(header, sent)).toBeUndefined()
    }
  })

  test("a nonce is its attempt's own until a request with it was accepted", () => {
    const credentials = new Credentials(USER, PASSWORD)
    const challenge = credentials.challenge('Digest realm="x", nonce="n", qop="auth"', undefined)
    expect(credentials.authorization('POST', '/')).toBeUndefined()
    const sent = credentials.authorization('POST', '/', challenge)
    if (sent) credentials.accepted(sent, undefined)
    expect(credentials.authorization('POST', '/')).toMatchObject({ use: 2 })
  })

  test('attempts that were given the same nonce at the same time count its uses together', () => {
    const credentials = new Credentials(USER, PASSWORD)
    const uses = [1, 2, 3].map(() => {
      const challenge = credentials.challenge('Digest realm="x", nonce="n", qop="auth"', undefined)
      return credentials.authorization('POST', '/', challenge)?.use
    })
    expect(uses).toEqual([1, 2, 3])
  })

  test('the nonces that answers give for the next request are used first, once each, and a bounded number is kept', () => {
    const credentials = new Credentials(USER, PASSWORD)
    const challenge = credentials.challenge('Digest realm="x", nonce="n", qop="auth"', undefined)
    const sent = credentials.authorization('POST', '/', challenge)
    if (!sent) throw new Error('the challenge is answered')
    for (let n = 0; n < 100; n++) credentials.accepted(sent, `qop=auth, nextnonce="next ${n}"`)
    const given = Array.from({ length: 65 }, () => parameters(credentials.authorization('POST', '/')?.header))
    expect(new Set(given.map(({ nonce }) => nonce)).size).toBe(65)
    expect(given.slice(0, 64).map(({ nc }) => nc)).toEqual(Array(64).fill('00000001'))
    expect(given[64]).toMatchObject({ nonce: 'n', nc: '00000002' })
  })
})
