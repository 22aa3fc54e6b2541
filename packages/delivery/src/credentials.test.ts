import { createHash } from 'node:crypto'
import { type Receiver, startReceiver } from '@fantail/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Credentials } from './credentials.ts'
import { createHttpSender, type HttpSender } from './http-sender.ts'

const USER = 'Mufasa'
const PASSWORD = 'Circle of Life'

describe('over HTTP', () => {
  let hooks: Receiver
  let sender: HttpSender
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
    sender = createHttpSender({ allowPrivate: true, timeoutMs: 5_000 })
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
    sender = createHttpSender({ allowPrivate: true, responseBytesMax: 10 })
    const headers = { 'www-authenticate': 'Basic' }
    hooks.respond('/big', (request) =>
      request.headers.authorization ? { status: 200 } : { status: 401, headers, body: 'x'.repeat(100_000) },
    )
    expect(await post('user:pass@', '/big')).toMatchObject({ statusCode: 200 })
  })

  test('no failure tells them', async () => {
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
    expect(credentials.challenge([md5, sha, 'Basic realm="x"'], undefined)).toBe(true)
    const given = parameters(credentials.authorization('GET', '/dir/index.html'))
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    // The middle of the document's example, whose client nonce is fixed and ours is not.
    const middle = `7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v:00000001:${given.cnonce}:auth`
    const secret = sha256('Mufasa:http-auth@example.org:Circle of Life')
    expect(given.response).toBe(sha256(`${secret}:${middle}:${sha256('GET:/dir/index.html')}`))
    expect(given).toMatchObject({ algorithm: 'SHA-256', qop: 'auth', uri: '/dir/index.html', username: USER })
    expect(given.opaque).toBe('FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS')
  })

  test('without qop the old formula holds (RFC 2069)', () => {
    const credentials = new Credentials(USER, 'Circle Of Life')
    credentials.challenge(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"',
      undefined,
    )
    const given = parameters(credentials.authorization('GET', '/dir/index.html'))
    expect(given.response).toBe('670fd8c2df070c60b045671b8b24ff02')
    expect(given.nc).toBeUndefined()
  })

  test.each([
    ['', false],
    ['Negotiate', false],
    ['Digest realm="x"', false],
    ['Digest realm="x", nonce="n", algorithm=SHA-512-256', false],
    ['Digest realm="x", nonce="n", qop="auth-int"', false],
    ['Negotiate abc==, Basic realm="a, b"', true],
    ['basic', true],
    ['Digest realm="a \\"b\\"", nonce="n"', true],
  ])('%s is answered: %s', (header, answered) => {
    const credentials = new Credentials(USER, PASSWORD)
    expect(credentials.challenge(header, undefined)).toBe(answered)
    expect(credentials.authorization('POST', '/') !== undefined).toBe(answered)
  })

  test('one that the request had answered is not answered again', () => {
    const credentials = new Credentials(USER, PASSWORD)
    const digest = 'Digest realm="x", nonce="n"'
    expect(credentials.challenge(digest, undefined)).toBe(true)
    expect(credentials.challenge(digest, credentials.authorization('POST', '/'))).toBe(false)
    expect(credentials.challenge('Basic', 'Basic abc')).toBe(false)
  })
})
