/** Attempts to get links to a host of the sender's choice: by the request target, Host, and headers of proxies. */
import { connect } from 'node:net'
import { Sha256 } from '@aws-crypto/sha256-js'
import { unsubscribeLink } from '@fantail/delivery'
import { whenClosed } from '@fantail/test-kit'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type SnsApi, startSnsApi } from '../aws/sns/sns.fixture.ts'
import { waitingIn } from '../fixtures/test-api.fixture.ts'
import { settleTarget } from './server.ts'

describe('a request is for one host', () => {
  test.each<[target: string, host: string | undefined, served: string]>([
    ['/v1/topics?x=1', 'fantail:4100', '/v1/topics?x=1'],
    ['/', undefined, '/'],
    ['//evil/x', 'fantail', '//evil/x'],
    ['/http://evil/', 'fantail', '/http://evil/'],
    ['http://fantail:4100/v1?x=http://evil/', 'fantail:4100', '/v1?x=http://evil/'],
    ['HTTP://FanTail/a', 'fantail', '/a'],
    ['https://fantail/a', 'fantail', '/a'],
    ['http://fantail', 'fantail', '/'],
    ['http://fantail?Action=X', 'fantail', '/?Action=X'],
    ['http://[::1]:4100/a', '[::1]:4100', '/a'],
  ])('%s under %s is served as %s', (url, host, served) => {
    const incoming = { url, headers: host === undefined ? {} : { host } }
    expect(settleTarget(incoming)).toBeUndefined()
    expect(incoming.url).toBe(served)
  })

  test.each<[target: string, host: string | undefined]>([
    ['http://evil/', 'fantail'],
    ['http://evil/', undefined],
    ['http://fantail:81/', 'fantail'],
    ['http://fantail/', 'fantail:4100'],
    ['http://fantail@evil/', 'fantail'],
    ['http://evil@fantail/', 'fantail'],
    ['http://fantail.evil/', 'fantail'],
    ['http://fantail./', 'fantail'],
    ['http:///', 'fantail'],
    ['ftp://fantail/', 'fantail'],
    ['/', 'fantail, evil'],
    ['/', 'evil@fantail'],
    ['/', 'fantail/evil'],
    ['/', 'fantail?evil'],
    ['/', 'fantail#evil'],
    ['/', 'fantail\\evil'],
    ['/', 'ß/xxxxx'],
    ['/', 'fantail:port'],
  ])('%s under %s is refused', (url, host) => {
    expect(settleTarget({ url, headers: host === undefined ? {} : { host } })).toBeTypeOf('string')
  })
})

const TOPIC = 'arn:aws:sns:us-east-1:000000000000:links'
const ROOT = { accessKeyId: 'AKIDROOT', secretAccessKey: 'root' }
/** All headers with which proxies and frameworks allow another host. */
const FORWARDED = {
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Port': '666',
  'X-Forwarded-Prefix': '/evil',
  'X-Forwarded-Server': 'evil.example',
  'X-Original-Host': 'evil.example',
  'X-Original-URL': 'http://evil.example/',
  'X-Rewrite-URL': 'http://evil.example/',
  'X-Host': 'evil.example',
  Forwarded: 'host=evil.example;proto=https',
}

describe('links', () => {
  let aws: SnsApi
  let host: string
  let subscriptions = 0
  beforeAll(async () => {
    aws = await startSnsApi({
      mode: 'server',
      auth: true,
      port: 4100,
      awsCredentials: [{ accessKeyId: ROOT.accessKeyId, secret: ROOT.secretAccessKey }],
    })
    host = new URL(aws.endpoint).host
    await aws.api.deps.topics.put(TOPIC, {})
  })
  afterAll(() => aws.stop())
  beforeEach(() => void subscriptions++)

  const subscribing = () => ({
    Action: 'Subscribe',
    Version: '2010-03-31',
    TopicArn: TOPIC,
    Protocol: 'https',
    Endpoint: `https://example.com/${subscriptions}`,
    ReturnSubscriptionArn: 'true',
  })

  /** The query and headers of a signed GET, presigned or not. */
  async function signed(query: Record<string, string>, presigned: boolean, service = 'sns') {
    const signer = new SignatureV4({
      credentials: ROOT,
      region: 'us-east-1',
      service,
      sha256: Sha256,
      applyChecksum: false,
    })
    const hostname = host.replace(/:.*/, '')
    const plain = { method: 'GET', protocol: 'http:', hostname, path: '/', query, headers: { host } }
    const made = presigned ? await signer.presign(plain, { expiresIn: 60 }) : await signer.sign(plain)
    const search = new URLSearchParams(made.query as Record<string, string>).toString().replaceAll('+', '%20')
    return { search, headers: { ...made.headers, host } as Record<string, string> }
  }

  /** Sends raw bytes, as an attacker may. fetch would merge two hosts into one. */
  async function send(target: string, headers: Record<string, string>): Promise<string> {
    const socket = connect(Number(new URL(aws.endpoint).port), '127.0.0.1')
    const lines = Object.entries({ Connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    await whenClosed(socket)
    return Buffer.concat(chunks).toString()
  }

  async function originOfConfirmation(answer: string): Promise<string | undefined> {
    const [, id = ''] = /<SubscriptionArn>[^<]+:([^:<]+)<\/SubscriptionArn>/.exec(answer) ?? []
    const [message] = await waitingIn(aws.api, id)
    return message?.publicUrl
  }

  test.each([true, false])(
    'a signed call names its host by the signed header alone: presigned %s',
    async (presigned) => {
      const { search, headers } = await signed(subscribing(), presigned)
      for (const target of [
        `http://evil.example/?${search}`,
        `https://evil.example/?${search}`,
        `http://${host}@evil/?${search}`,
      ])
        expect(await send(target, headers)).toMatch(/^HTTP\/1.1 400 /)
      expect(await send(`/?${search}`, { ...headers, host: 'evil.example' })).toContain(
        'SignatureDoesNotMatch',
      )
      expect(await originOfConfirmation(await send(`https://${host}/?${search}`, headers))).toBe(
        `http://${host}`,
      )
    },
  )

  test('headers of proxies choose nothing', async () => {
    const { search, headers } = await signed(subscribing(), true)
    const answer = await send(`/?${search}`, { ...headers, ...FORWARDED })
    expect(await originOfConfirmation(answer)).toBe(`http://${host}`)
  })

  test('let their caller choose neither the host of the link that undoes them, nor of the certificate', async () => {
    const { search, headers } = await signed(subscribing(), false)
    const [, arn = ''] = /<SubscriptionArn>([^<]+)</.exec(await send(`/?${search}`, headers)) ?? []
    const id = arn.split(':').at(-1) ?? ''
    const [asked] = await waitingIn(aws.api, id)
    const confirm = new URLSearchParams({
      Action: 'ConfirmSubscription',
      TopicArn: TOPIC,
      Token: asked?.token ?? '',
    })
    expect(await send(`/?${confirm}`, { host: 'evil.example' })).toMatch(/^HTTP\/1.1 200 /)
    const link = new URL(unsubscribeLink('http://localhost', arn, await aws.api.deps.linkKey.get()))
    expect(await send(`/${link.search}&Action=Unsubscribe`, { host: 'evil.example', ...FORWARDED })).toMatch(
      /^HTTP\/1.1 200 /,
    )
    const [undo] = await waitingIn(aws.api, id)
    expect(undo).toMatchObject({ kind: 'UnsubscribeConfirmation', publicUrl: 'http://localhost:4100' })
  })

  test('queue URLs are made of the signed host, too', async () => {
    await aws.api.deps.queues.put('arn:aws:sqs:us-east-1:000000000000:links', {})
    const query = { Action: 'GetQueueUrl', Version: '2012-11-05', QueueName: 'links' }
    const { search, headers } = await signed(query, true, 'sqs')
    expect(await send(`http://evil.example/?${search}`, headers)).toMatch(/^HTTP\/1.1 400 /)
    const answer = await send(`http://${host}/?${search}`, { ...headers, ...FORWARDED })
    expect(answer).toContain(`<QueueUrl>http://${host}/000000000000/links</QueueUrl>`)
  })
})
