/** Messages to one target over both APIs: what is stored, what no list shows, and every refusal. */
import {
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  DeletePlatformApplicationCommand,
  ListSubscriptionsCommand,
  ListTopicsCommand,
  PublishCommand,
  type PublishCommandInput,
  SetEndpointAttributesCommand,
  SetPlatformApplicationAttributesCommand,
} from '@aws-sdk/client-sns'
import { directTopicArn } from '@fantail/contracts'
import { firebaseCredential } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyWith } from '../auth/keys.fixture.ts'
import { refusalOf, type SnsApi, startSnsApi } from '../aws/sns/sns.fixture.ts'
import { startTestApi, type TestApi } from '../fixtures/test-api.fixture.ts'

const NUMBER = '+15550100'
const protocolSettings = { smsUrl: 'http://127.0.0.1:1', smsCountries: [{ prefix: '+1' }] }
let sns: SnsApi
let guarded: TestApi

beforeAll(async () => {
  ;[sns, guarded] = await Promise.all([
    startSnsApi({}, { protocolSettings }),
    startTestApi({ auth: true, protocolSettings }),
  ])
})
afterAll(() => Promise.all([sns.stop(), guarded.stop()]))

const send = (input: Partial<PublishCommandInput>) =>
  sns.client.send(new PublishCommand({ Message: 'hello', ...input }))
const refusal = async (input: Partial<PublishCommandInput>) => {
  const { name, message } = await refusalOf(send(input))
  return [name, message]
}
const natively = (body: object, key?: string) =>
  sns.api.call('POST', '/v1/messages', {
    body: { message: 'hello', ...body },
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  })
const stored = async (messageId: string | undefined) =>
  (await sns.api.published()).find((message) => message.messageId === messageId)
const invalid = (message: string) => ['InvalidParameterException', `Invalid parameter: ${message}`]

async function device(name: string, token = 'device-1') {
  const application = { Name: name, Platform: 'GCM', Attributes: firebaseCredential() }
  const { PlatformApplicationArn = '' } = await sns.client.send(
    new CreatePlatformApplicationCommand(application),
  )
  const command = new CreatePlatformEndpointCommand({ PlatformApplicationArn, Token: token })
  const { EndpointArn = '' } = await sns.client.send(command)
  return { application: PlatformApplicationArn, endpoint: EndpointArn }
}

/** The topics of an owner that exist. */
async function topicsOf(owner: string) {
  const arns = Array.from({ length: 8 }, (_, lane) => directTopicArn(owner, lane))
  const exist = await sns.api.deps.topics.exists(arns)
  return arns.filter((_, lane) => exist[lane])
}

test('a message to a number is stored with its target, in one form, and with its attributes', async () => {
  const { MessageId, SequenceNumber } = await send({
    PhoneNumber: '+1 555-0100',
    Subject: 'Unseen',
    MessageAttributes: { 'AWS.SNS.SMS.SenderID': { DataType: 'String', StringValue: 'Shop' } },
  })
  expect(SequenceNumber).toBeUndefined()
  expect(await stored(MessageId)).toMatchObject({
    target: NUMBER,
    message: 'hello',
    attributes: { 'AWS.SNS.SMS.SenderID': { type: 'String', value: 'Shop' } },
  })
})

test('[371] bad numbers, countries that are not served and texts that are too long are refused', async () => {
  for (const bad of ['+1a234', 'NAA+15551234567', 'abc'])
    expect(await refusal({ PhoneNumber: bad })).toEqual(
      invalid(`PhoneNumber Reason: ${bad} is not valid to publish to`),
    )
  expect(await refusal({ PhoneNumber: '+4915550100' })).toEqual(
    invalid('PhoneNumber Reason: must be a number of a country that FANTAIL_SMS_COUNTRIES names'),
  )
  expect(await refusal({ PhoneNumber: NUMBER, Message: 'x'.repeat(1_601) })).toEqual(
    invalid('Message Reason: the text has more than 1600 characters'),
  )
  expect(await refusal({ PhoneNumber: NUMBER, MessageDeduplicationId: 'd' })).toMatchObject([
    'InvalidParameterException',
    expect.stringContaining('MessageDeduplicationId'),
  ])
})

test('the text of its own protocol or platform may stand without a default', async () => {
  const json = (texts: object) => ({ MessageStructure: 'json', Message: JSON.stringify(texts) })
  const { endpoint } = await device('texts')
  await send({ PhoneNumber: NUMBER, ...json({ sms: 'hello' }) })
  await send({ TargetArn: endpoint, ...json({ GCM: '{"data":{}}' }) })
  const none = invalid('Message Structure - No default entry in JSON message body')
  expect(await refusal({ PhoneNumber: NUMBER, ...json({ GCM: '{}' }) })).toEqual(none)
  expect(await refusal({ TargetArn: endpoint, ...json({ APNS: '{}' }) })).toEqual(none)
})

test('[398] unknown and disabled endpoints and applications are refused in SNS’s words', async () => {
  const { application, endpoint } = await device('states')
  const { MessageId } = await send({ TargetArn: endpoint })
  expect(await stored(MessageId)).toMatchObject({ target: endpoint, message: 'hello' })
  const unknown = endpoint.replace(/[0-9a-f]{12}$/, '000000000000')
  expect(await refusal({ TargetArn: unknown })).toEqual(
    invalid('TargetArn Reason: No endpoint found for the target arn specified'),
  )
  const EndpointArn = endpoint
  await sns.client.send(new SetEndpointAttributesCommand({ EndpointArn, Attributes: { Enabled: 'false' } }))
  // The structure of the message is not read any more.
  const texts = [{}, { MessageStructure: 'json' }, { MessageStructure: 'xml' }]
  for (const text of texts) {
    expect(await refusal({ TargetArn: endpoint, ...text })).toEqual([
      'EndpointDisabledException',
      'Endpoint is disabled',
    ])
  }
  expect((await natively({ targetArn: endpoint })).body.error).toMatchObject({
    code: 'conflict',
    message: 'Endpoint is disabled',
  })
  const off = { PlatformApplicationArn: application, Attributes: { Enabled: 'false' } }
  await sns.client.send(new SetPlatformApplicationAttributesCommand(off))
  for (const text of texts) {
    expect(await refusal({ TargetArn: endpoint, ...text })).toEqual([
      'PlatformApplicationDisabledException',
      'Platform application is disabled',
    ])
  }
})

test('notifications that are too large or no notification are refused', async () => {
  const { endpoint } = await device('sizes')
  expect(await refusal({ TargetArn: endpoint, Message: 'x'.repeat(4_097) })).toEqual(
    invalid(
      'Message Reason: Invalid notification for protocol GCM: Notification data is larger than allowed limit',
    ),
  )
  const Message = JSON.stringify({ default: 'hello', GCM: 'no document' })
  expect(await refusal({ TargetArn: endpoint, MessageStructure: 'json', Message })).toEqual(
    invalid('Message Reason: Invalid notification for protocol GCM: Notification body is invalid.'),
  )
})

test('no list shows the topics and subscriptions for targets', async () => {
  const { application, endpoint } = await device('hidden')
  await send({ TargetArn: endpoint })
  await send({ PhoneNumber: NUMBER })
  expect(await topicsOf(application)).toHaveLength(1)
  expect((await sns.client.send(new ListTopicsCommand({}))).Topics).toEqual([])
  expect((await sns.client.send(new ListSubscriptionsCommand({}))).Subscriptions).toEqual([])
  expect((await sns.api.call('GET', '/v1/topics')).body.topics).toEqual([])
  expect((await sns.api.call('GET', '/v1/subscriptions')).body.subscriptions).toEqual([])
  const [TopicArn = ''] = await topicsOf(application)
  const { items } = await sns.api.deps.subscriptions.list({ topicArn: TopicArn, limit: 1 })
  const path = `/v1/subscriptions/${items[0]?.id}`
  const hidden = await Promise.all([
    sns.api.call('GET', path),
    sns.api.call('PATCH', path, { body: { maxInFlight: 1 } }),
    sns.api.call('POST', `${path}/pause`),
    sns.api.call('POST', `${path}/purge`),
    sns.api.call('DELETE', path),
  ])
  expect(hidden.map(({ status }) => status)).toEqual([404, 404, 404, 404, 204])
  expect(await sns.api.deps.subscriptions.get(items[0]?.id ?? '')).toMatchObject({ status: 'active' })
  expect((await sns.api.call('GET', '/v1/lanes')).body.lanes).toEqual([])
  expect(await refusal({ TopicArn })).toEqual(invalid('TopicArn'))
  expect((await sns.api.call('GET', `/v1/topics/${encodeURIComponent(TopicArn)}`)).status).toBe(400)
})

test('a topic for targets that lost its subscription to a crash gets one before anything is stored', async () => {
  const { application, endpoint } = await device('crashed')
  await send({ TargetArn: endpoint })
  const [topicArn = ''] = await topicsOf(application)
  const { deps } = sns.api
  const { items } = await deps.subscriptions.list({ topicArn, limit: 10 })
  expect(items).toHaveLength(1)
  await deps.subscriptions.delete(items[0]?.id ?? '')
  deps.topicCache.forget(topicArn)
  await send({ TargetArn: endpoint })
  expect((await deps.subscriptions.list({ topicArn, limit: 10 })).items).toHaveLength(1)
})

test('many targets share eight lanes, which are deleted with their application', async () => {
  const { application, endpoint } = await device('many')
  const command = (Token: string) =>
    sns.client.send(new CreatePlatformEndpointCommand({ PlatformApplicationArn: application, Token }))
  const others = await Promise.all(Array.from({ length: 40 }, (_, i) => command(`many-${i}`)))
  await Promise.all(others.map(({ EndpointArn }) => send({ TargetArn: EndpointArn })))
  expect((await topicsOf(application)).length).toBeGreaterThan(4)
  await sns.client.send(new DeletePlatformApplicationCommand({ PlatformApplicationArn: application }))
  expect(await topicsOf(application)).toEqual([])
  expect(await refusal({ TargetArn: endpoint })).toEqual(
    invalid('TargetArn Reason: No endpoint found for the target arn specified'),
  )
})

test('the native API publishes once for a key and target, and names the member that is wrong', async () => {
  const first = await natively({ phoneNumber: NUMBER }, 'code-1')
  const again = await natively({ phoneNumber: NUMBER }, 'code-1')
  const other = await natively({ phoneNumber: '+15550101' }, 'code-1')
  expect([first.status, again.status, again.body]).toEqual([202, 202, first.body])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(other.body.messageId).not.toBe(first.body.messageId)
  expect(await stored(first.body.messageId)).toMatchObject({ target: NUMBER })
  const changed = await natively({ phoneNumber: NUMBER, message: 'other' }, 'code-1')
  expect(changed.body.error.code).toBe('idempotency_mismatch')
  const details = async (body: object) => (await natively(body)).body.error.details
  const missing = [{ path: 'phoneNumber', message: 'or targetArn is required, and not both' }]
  expect([await details({}), await details({ phoneNumber: NUMBER, targetArn: 'a' })]).toEqual([
    missing,
    missing,
  ])
  expect(await details({ phoneNumber: 'abc' })).toEqual([
    { path: 'phoneNumber', message: 'must be a phone number such as +15550100' },
  ])
  expect(await details({ targetArn: 'arn:aws:sns:us-east-1:000000000000:orders' })).toMatchObject([
    { path: 'targetArn' },
  ])
  expect(await details({ phoneNumber: NUMBER, structure: 'json', message: { sms: 'hi' } })).toMatchObject([
    { path: 'message' },
  ])
})

test('numbers need the scope sms, and platform endpoints the names of their application', async () => {
  const body = { phoneNumber: NUMBER, message: 'hello' }
  const [publisher, texter, bound] = [
    await keyWith(guarded, ['publish']),
    await keyWith(guarded, ['publish', 'sms', 'read']),
    await keyWith(guarded, ['publish', 'manage', 'read'], { prefixes: ['mine'] }),
  ]
  expect(await publisher.status('POST', '/v1/messages', body)).toBe(403)
  expect(await texter.status('POST', '/v1/messages', body)).toBe(202)
  const credential = firebaseCredential().PlatformCredential
  const arns = await Promise.all(
    ['mine-app', 'theirs'].map(async (name) => {
      const path = `/v1/platform-applications/GCM/${name}`
      const owner = await keyWith(guarded, ['manage'])
      await owner.call('PUT', path, { body: { credential } })
      return (await owner.call('POST', `${path}/endpoints`, { body: { token: 'device' } })).body.arn
    }),
  )
  const to = (targetArn: string) => bound.status('POST', '/v1/messages', { targetArn, message: 'hello' })
  expect(await Promise.all([to(arns[0]), to(arns[1])])).toEqual([202, 403])
})
