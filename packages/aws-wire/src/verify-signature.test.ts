import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SignedRequest } from './canonical-request.ts'
import { AwsError, type AwsService, parseParameters, readAuthorization, verifySignature } from './index.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const MINUTE = 60_000
const credentials = { accessKeyId: 'AKID', secretAccessKey: 'se/cr+et=' }

interface Signing {
  method?: string
  path?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: string
  service?: AwsService
  at?: number
  secret?: string
  presignSeconds?: number
}

/** A request signed as a client signs it. */
async function signed(signing: Signing = {}): Promise<SignedRequest> {
  const { method = 'POST', path = '/', query = {}, headers = {}, body = 'Action=ListTopics' } = signing
  const { service = 'sns', at = NOW, secret = credentials.secretAccessKey, presignSeconds } = signing
  const signer = new SignatureV4({
    credentials: { ...credentials, secretAccessKey: secret },
    region: 'us-east-1',
    service,
    sha256: Sha256,
    applyChecksum: false,
  })
  const hostname = 'localhost'
  const plain = {
    method,
    protocol: 'http:',
    hostname,
    path,
    query,
    headers: { host: hostname, ...headers },
    body,
  }
  const options = { signingDate: new Date(at) }
  const made =
    presignSeconds === undefined
      ? await signer.sign(plain, options)
      : await signer.presign(plain, { ...options, expiresIn: presignSeconds })
  const search = new URLSearchParams(made.query as Record<string, string>).toString().replaceAll('+', '%20')
  return { method, path, search, header: (name) => made.headers[name], body: Buffer.from(body) }
}

async function verdict(request: SignedRequest, set: { now?: number; service?: AwsService } = {}) {
  const query = parseParameters(request.search)
  const authorization = readAuthorization({ header: request.header, query })
  const secretOf = (id: string) => (id === 'AKID' ? credentials.secretAccessKey : undefined)
  try {
    await verifySignature({ request, query, authorization, service: 'sns', secretOf, now: NOW, ...set })
    return 'verified'
  } catch (error) {
    if (error instanceof AwsError) return `${error.status} ${error.code}`
    throw error
  }
}

const withHeader = (request: SignedRequest, changed: string, value: string | undefined): SignedRequest => ({
  ...request,
  header: (name) => (name === changed ? value : request.header(name)),
})
const withAuthorization = (request: SignedRequest, change: (text: string) => string) =>
  withHeader(request, 'authorization', change(request.header('authorization') ?? ''))

test('a client’s signature is verified for any path, query, headers and body', async () => {
  const text = fc.string({ unit: 'grapheme' })
  const name = text.filter((key) => key !== '' && key !== '__proto__')
  const path = fc.array(
    fc.oneof(fc.constantFrom('..', '.', '', '000000000000', 'q%20q'), fc.stringMatching(/^[\w.~-]+$/)),
  )
  const given = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    path: path.map((parts) => `/${parts.join('/')}`),
    query: fc.dictionary(name, text),
    headers: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[ -~]*$/)),
    body: text,
    service: fc.constantFrom<AwsService>('sns', 'sqs'),
  })
  await fc.assert(
    fc.asyncProperty(given, async (signing) => {
      expect(await verdict(await signed(signing), { service: signing.service })).toBe('verified')
    }),
  )
})

test('a presigned request is verified for as long as it says', async () => {
  const request = await signed({
    method: 'GET',
    query: { Action: 'ListTopics', a: 'b c' },
    body: '',
    presignSeconds: 60,
  })
  expect(await verdict(request)).toBe('verified')
  expect(await verdict(request, { now: NOW + 60_000 })).toBe('verified')
  expect(await verdict(request, { now: NOW + 60_001 })).toBe('400 RequestExpired')
  const other = { ...request, search: request.search.replace('ListTopics', 'DeleteTopic') }
  expect(await verdict(other)).toBe('403 SignatureDoesNotMatch')
  const endless = { ...request, search: request.search.replace('X-Amz-Expires=60', 'X-Amz-Expires=9999999') }
  expect(await verdict(endless)).toBe('400 IncompleteSignature')
})

test.each<[how: string, presignSeconds: number | undefined]>([
  ['presigned', 60],
  ['signed in its header', undefined],
])('a plus sign means the same to the signature as to the parameters: %s', async (_how, presignSeconds) => {
  const query = { Action: 'Publish', Message: 'a+b c' }
  const request = await signed({ method: 'GET', query, body: '', presignSeconds })
  const sent = (text: string) => verdict({ ...request, search: request.search.replace('a%2Bb%20c', text) })
  expect(request.search).toContain('Message=a%2Bb%20c')
  expect(await sent('a%2bb%20c')).toBe('verified')
  expect(await sent('a%2Bb+c')).toBe('verified')
  expect(await sent('a+b%20c')).toBe('403 SignatureDoesNotMatch')
  expect(await sent('a+b+c')).toBe('403 SignatureDoesNotMatch')
  expect(await sent('a%2Bb%2Bc')).toBe('403 SignatureDoesNotMatch')
})

test('nothing that is signed can be changed', async () => {
  const request = await signed({ query: { a: '1' }, headers: { 'x-amz-target': 'AmazonSQS.ListQueues' } })
  expect(await verdict(request)).toBe('verified')
  for (const changed of [
    { ...request, method: 'GET' },
    { ...request, path: '/000000000000/q' },
    { ...request, search: 'a=2' },
    { ...request, search: 'a=1&b' },
    { ...request, body: Buffer.from('Action=DeleteTopic') },
    withHeader(request, 'host', 'elsewhere'),
    withHeader(request, 'x-amz-target', 'AmazonSQS.PurgeQueue'),
    withHeader(request, 'x-amz-date', '20260102T030406Z'),
    withAuthorization(request, (text) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'))),
    withAuthorization(request, (text) => text.replace(/Signature=.*/, 'Signature=ab')),
    withAuthorization(request, (text) => text.replace('host;', '')),
    withAuthorization(request, (text) => text.replace('/us-east-1/', '/eu-west-1/')),
    withAuthorization(request, (text) => text.replace('aws4_request', 'aws5_request')),
    withAuthorization(request, (text) => text.replace('20260102/', '20260103/')),
    await signed({ secret: 'another' }),
  ]) {
    expect(await verdict(changed)).toBe('403 SignatureDoesNotMatch')
  }
})

test('headers that change the request’s meaning must be signed', async () => {
  const request = await signed()
  const target = withHeader(request, 'x-amz-target', 'AmazonSQS.PurgeQueue')
  expect(await verdict(target)).toBe('403 SignatureDoesNotMatch')
})

test('a signature is good for a quarter of an hour to either side, and for its service', async () => {
  const request = await signed()
  expect(await verdict(request, { now: NOW + 15 * MINUTE })).toBe('verified')
  expect(await verdict(request, { now: NOW - 15 * MINUTE })).toBe('verified')
  expect(await verdict(request, { now: NOW + 15 * MINUTE + 1 })).toBe('400 RequestExpired')
  expect(await verdict(request, { now: NOW - 15 * MINUTE - 1 })).toBe('400 RequestExpired')
  expect(await verdict(request, { service: 'sqs' })).toBe('403 SignatureDoesNotMatch')
})

test('a Date header may stand for X-Amz-Date', async () => {
  const request = await signed()
  const dated = withHeader(request, 'x-amz-date', undefined)
  expect(await verdict(dated)).toBe('400 IncompleteSignature')
  // The request was signed with x-amz-date among its headers. Without this header the signature is therefore wrong.
  expect(await verdict(withHeader(dated, 'date', 'Fri, 02 Jan 2026 03:04:05 GMT'))).toBe(
    '403 SignatureDoesNotMatch',
  )
})

test('a session token is not looked at', async () => {
  expect(await verdict(await signed({ headers: { 'x-amz-security-token': 'any' } }))).toBe('verified')
})

test('no signature, an unknown key, and signatures that lack a part', async () => {
  const request = await signed()
  expect(await verdict(withHeader(request, 'authorization', undefined))).toBe(
    '403 MissingAuthenticationToken',
  )
  expect(await verdict(withHeader(request, 'authorization', 'Bearer x'))).toBe(
    '403 MissingAuthenticationToken',
  )
  const unknown = withAuthorization(request, (text) => text.replace('AKID', 'OTHER'))
  expect(await verdict(unknown)).toBe('403 InvalidClientTokenId')
  for (const part of ['Credential', 'SignedHeaders', 'Signature']) {
    const lacking = withAuthorization(request, (text) => text.replace(`${part}=`, 'Other='))
    expect(await verdict(lacking)).toBe('400 IncompleteSignature')
  }
  for (const text of [
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=host, Signature=x',
  ]) {
    expect(await verdict(withHeader(request, 'authorization', text))).toBe('400 IncompleteSignature')
  }
  expect(await verdict(withHeader(request, 'x-amz-date', 'now'))).toBe('400 IncompleteSignature')
  const impossible = withAuthorization(request, (text) => text.replace('20260102', '20261399'))
  expect(await verdict(withHeader(impossible, 'x-amz-date', '20261399T999999Z'))).toBe('400 RequestExpired')
})
