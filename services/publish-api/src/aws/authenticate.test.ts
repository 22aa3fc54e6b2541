/** Signatures, if access keys are configured: by the SDKs' clients, presigned, forged and missing. */
import { request } from 'node:http'
import { Sha256 } from '@aws-crypto/sha256-js'
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  ListTopicsCommand,
  PublishCommand,
  SNSClient,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { CreateQueueCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { unsubscribeLink } from '@fantail/delivery'
import { SignatureV4 } from '@smithy/signature-v4'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { waitingIn } from '../fixtures/test-api.fixture.ts'
import { refusalOf, type SnsApi, startSnsApi } from './sns/sns.fixture.ts'

const KEYS = [
  { accessKeyId: 'AKIDALICE', secret: 'alice/secret+' },
  { accessKeyId: 'AKIDBOB', secret: 'bob', account: '222222222222' },
  { accessKeyId: '333333333333', secret: 'carol' },
]
let sns: SnsApi
const closing: (() => void)[] = []

beforeAll(async () => {
  sns = await startSnsApi({ awsCredentials: KEYS })
})

afterAll(async () => {
  for (const close of closing) close()
  await sns.stop()
})

interface Who {
  accessKeyId?: string
  secretAccessKey?: string
  sessionToken?: string
  clockOffsetMs?: number
}

function clients({ clockOffsetMs = 0, ...who }: Who = {}) {
  const credentials = { accessKeyId: 'AKIDALICE', secretAccessKey: 'alice/secret+', ...who }
  const options = {
    endpoint: sns.endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
    systemClockOffset: clockOffsetMs,
  }
  const made = { sns: new SNSClient(options), sqs: new SQSClient(options) }
  closing.push(
    () => made.sns.destroy(),
    () => made.sqs.destroy(),
  )
  return made
}

test('a caller that signs with the secret is served, in the account of the key', async () => {
  const Name = 'signed'
  for (const [who, account] of [
    [{}, '000000000000'],
    [{ sessionToken: 'any' }, '000000000000'],
    [{ accessKeyId: 'AKIDBOB', secretAccessKey: 'bob' }, '222222222222'],
    [{ accessKeyId: '333333333333', secretAccessKey: 'carol' }, '333333333333'],
  ] as const) {
    const client = clients(who)
    const { TopicArn } = await client.sns.send(new CreateTopicCommand({ Name }))
    expect(TopicArn).toBe(`arn:aws:sns:us-east-1:${account}:signed`)
    const Message = 'a b+c&d=é*\n😀'
    expect((await client.sns.send(new PublishCommand({ TopicArn, Message }))).MessageId).toBeDefined()
    const { QueueUrl } = await client.sqs.send(new CreateQueueCommand({ QueueName: 'signed' }))
    expect(QueueUrl).toBe(`${sns.endpoint}/${account}/signed`)
  }
})

test('[221] SubscriptionPrincipal is the user of the key that subscribed', async () => {
  const client = clients({ accessKeyId: 'AKIDBOB', secretAccessKey: 'bob' })
  const { TopicArn } = await client.sns.send(new CreateTopicCommand({ Name: 'principal' }))
  const given = { TopicArn, Protocol: 'https', Endpoint: 'https://example.com/', ReturnSubscriptionArn: true }
  const { SubscriptionArn } = await client.sns.send(new SubscribeCommand(given))
  const asked = new GetSubscriptionAttributesCommand({ SubscriptionArn })
  const { Attributes } = await client.sns.send(asked)
  expect(Attributes).toMatchObject({
    Owner: '222222222222',
    SubscriptionPrincipal: 'arn:aws:iam::222222222222:user/AKIDBOB',
  })
})

test('everybody else is refused, in XML and in JSON', async () => {
  for (const [who, status, name] of [
    [{ secretAccessKey: 'guessed' }, 403, 'SignatureDoesNotMatch'],
    [{ accessKeyId: 'AKIDMALLORY' }, 403, 'InvalidClientTokenId'],
    [{ clockOffsetMs: -16 * 60_000 }, 400, 'RequestExpired'],
    [{ clockOffsetMs: 16 * 60_000 }, 400, 'RequestExpired'],
  ] as const) {
    const client = clients(who)
    for (const call of [
      client.sns.send(new ListTopicsCommand({})),
      client.sqs.send(new ListQueuesCommand({})),
    ]) {
      expect(await refusalOf(call)).toMatchObject({ status, name })
    }
  }
})

test('without a signature nothing is served', async () => {
  for (const Action of ['ListTopics', 'Publish', 'Nothing']) {
    const { status, text } = await sns.query({ Action, TopicArn: 'x' })
    expect([status, text]).toEqual([403, expect.stringContaining('<Code>MissingAuthenticationToken</Code>')])
  }
  const response = await fetch(`${sns.endpoint}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.Unsubscribe' },
    body: '{}',
  })
  expect([response.status, response.headers.get('x-amzn-query-error')]).toEqual([
    403,
    'MissingAuthenticationToken;Sender',
  ])
  expect(await response.json()).toMatchObject({
    __type: 'com.amazon.coral.service#MissingAuthenticationTokenException',
  })
})

test('a signature without its parts is incomplete', async () => {
  const response = await fetch(`${sns.endpoint}/?Action=ListTopics`, {
    headers: { Authorization: 'AWS4-HMAC-SHA256 Credential=AKIDALICE/20260101/us-east-1/sns/aws4_request' },
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([400, expect.stringContaining('<Code>IncompleteSignature</Code>')])
  expect(text).toContain('Authorization header requires &apos;Signature&apos; parameter.')
})

test('a presigned URL is served, and only for what it was made', async () => {
  const { hostname, port } = new URL(sns.endpoint)
  const signer = new SignatureV4({
    credentials: { accessKeyId: 'AKIDALICE', secretAccessKey: 'alice/secret+' },
    region: 'us-east-1',
    service: 'sns',
    sha256: Sha256,
  })
  const query = { Action: 'ListTopics', Version: '2010-03-31' }
  const host = `${hostname}:${port}`
  const request = { method: 'GET', protocol: 'http:', hostname, path: '/', query, headers: { host } }
  const signed = await signer.presign(request, { expiresIn: 60 })
  const parameters = signed.query as Record<string, string>
  expect((await sns.follow(parameters)).text).toContain('<ListTopicsResult>')
  const other = await sns.follow({ ...parameters, Action: 'CreateTopic' })
  expect([other.status, other.text]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
})

test('the links in messages need no signature', async () => {
  await sns.api.call('PUT', '/v1/topics/linked')
  const body = { endpoint: 'https://example.com/', confirmation: 'handshake' }
  const { id, arn, topicArn } = (await sns.api.call('POST', '/v1/topics/linked/subscriptions', { body })).body
  const [message] = await waitingIn(sns.api, id)
  const confirm = { Action: 'ConfirmSubscription', TopicArn: topicArn, Token: message?.token ?? '' }
  expect((await sns.follow(confirm)).text).toContain(arn)
  expect((await sns.follow(await linkTo(arn))).status).toBe(200)
  expect(await sns.api.deps.subscriptions.get(id)).toMatchObject({ unsubscribed: true })
})

/** The parameters of a link to unsubscribe, as a delivery contains them. */
async function linkTo(arn: string): Promise<Record<string, string>> {
  const link = unsubscribeLink('http://localhost', arn, await sns.api.deps.linkKey.get())
  return { Action: 'Unsubscribe', ...Object.fromEntries(new URL(link).searchParams) }
}

describe.each([
  ['native', 'https://example.com/strange'],
  ['native', 'arn:aws:sqs:us-east-1:000000000000:strange'],
  ['aws', 'https://example.com/strange'],
])('a stranger who knows the ARN of a subscription of the %s API to %s', (origin, endpoint) => {
  let arn: string
  const isThere = async () => {
    const record = await sns.api.deps.subscriptions.get(arn.slice(arn.lastIndexOf(':') + 1))
    return record !== null && !record.unsubscribed
  }

  beforeEach(async () => {
    await sns.api.call('PUT', '/v1/topics/strange')
    const TopicArn = 'arn:aws:sns:us-east-1:000000000000:strange'
    const made =
      origin === 'native'
        ? await sns.api.call('POST', '/v1/topics/strange/subscriptions', {
            body: { endpoint, confirmation: 'none' },
          })
        : await clients().sns.send(
            new SubscribeCommand({
              TopicArn,
              Protocol: 'https',
              Endpoint: endpoint,
              ReturnSubscriptionArn: true,
            }),
          )
    arn = 'body' in made ? made.body.arn : String(made.SubscriptionArn)
    return async () => void (await sns.api.call('DELETE', '/v1/topics/strange'))
  })

  test('cannot unsubscribe it, with a GET or a POST, and does not learn whether it exists', async () => {
    const other = await linkTo(`${arn.slice(0, -1)}${arn.endsWith('0') ? '1' : '0'}`)
    const own = await linkTo(arn)
    const tokens = [undefined, '', 'x', other.Token, `${own.Token}x`, own.Token?.slice(1)]
    const asked = tokens.map((Token) => ({ ...own, Token })).concat({ ...other, Token: own.Token })
    for (const { Token, ...parameters } of asked) {
      const given = { ...parameters, ...(Token !== undefined && { Token }) } as Record<string, string>
      for (const { status, text } of [await sns.follow(given), await sns.query(given)]) {
        expect([status, text]).toEqual([403, expect.stringContaining('<Code>AuthorizationError</Code>')])
      }
    }
    expect(await isThere()).toBe(true)
  })

  test('can do so only in SNS’s own form, where its owner allows that', async () => {
    sns.api.deps.settings.unsignedUnsubscribe = true
    try {
      const { status } = await sns.follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
      expect([status, await isThere()]).toEqual(origin === 'native' ? [403, true] : [200, false])
    } finally {
      sns.api.deps.settings.unsignedUnsubscribe = false
    }
  })
})

test('a large body without a key is not waited for, and the error names the missing key', async () => {
  // The body is announced and never sent. A server that waits for it gives no answer.
  const asked = (headers: Record<string, string>, bytes = 3_000_000) =>
    new Promise<[number | undefined, string | undefined]>((resolve, reject) => {
      const type = 'application/x-www-form-urlencoded'
      const all = { 'Content-Type': type, 'Content-Length': bytes, ...headers }
      const sending = request(sns.endpoint, { method: 'POST', headers: all }, async (answer) => {
        let text = ''
        for await (const chunk of answer) text += chunk
        resolve([answer.statusCode, /<Code>(\w+)<\/Code>/.exec(text)?.[1]])
        sending.destroy()
      })
      sending.on('error', reject)
      sending.flushHeaders()
    })
  const signedBy = (id: string) => ({
    Authorization: `AWS4-HMAC-SHA256 Credential=${id}/20260101/us-east-1/sns/aws4_request, SignedHeaders=host;x-amz-date, Signature=00`,
    'X-Amz-Date': '20260101T000000Z',
  })
  expect(await asked({})).toEqual([403, 'MissingAuthenticationToken'])
  expect(await asked(signedBy('AKIDNOBODY'))).toEqual([403, 'InvalidClientTokenId'])
  expect(await asked(signedBy('FKAAAAAAAAAAAAAAAAAA'))).toEqual([403, 'InvalidClientTokenId'])
  expect(await asked(signedBy('AKIDALICE'), 5_000_000)).toEqual([413, 'RequestEntityTooLarge'])
})
