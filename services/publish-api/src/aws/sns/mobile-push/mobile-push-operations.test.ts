import {
  CreatePlatformApplicationCommand,
  CreatePlatformEndpointCommand,
  CreateTopicCommand,
  DeleteEndpointCommand,
  DeletePlatformApplicationCommand,
  GetEndpointAttributesCommand,
  GetPlatformApplicationAttributesCommand,
  ListEndpointsByPlatformApplicationCommand,
  ListPlatformApplicationsCommand,
  SetEndpointAttributesCommand,
  SetPlatformApplicationAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { createAddressGuard } from '@fantail/delivery'
import { appleCredential, browserSubscription, firebaseCredential, vapidCredential } from '@fantail/test-kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const FIREBASE = firebaseCredential()
const APP = 'arn:aws:sns:us-east-1:000000000000:app/GCM/shop'
const invalid = (text: string) => ({
  name: 'InvalidParameterException',
  message: `Invalid parameter: ${text}`,
  status: 400,
})
const missing = (what: string) => ({
  name: 'NotFoundException',
  message: `${what} does not exist`,
  status: 404,
})

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
})
beforeEach(async () => {
  await sns.api.redis.flushall()
})
afterAll(() => sns.stop())

const createApp = (Platform: string, Attributes: Record<string, string>, Name = 'shop') =>
  sns.client.send(new CreatePlatformApplicationCommand({ Name, Platform, Attributes }))
const createShop = async () => (await createApp('GCM', FIREBASE)).PlatformApplicationArn
const setApp = (PlatformApplicationArn: string, Attributes: Record<string, string>) =>
  sns.client.send(new SetPlatformApplicationAttributesCommand({ PlatformApplicationArn, Attributes }))
const appAttributes = async (PlatformApplicationArn = APP) => {
  const command = new GetPlatformApplicationAttributesCommand({ PlatformApplicationArn })
  return (await sns.client.send(command)).Attributes
}
const register = (Token: string, more: object = {}) =>
  sns.client.send(new CreatePlatformEndpointCommand({ PlatformApplicationArn: APP, Token, ...more }))
const endpointOf = async (token: string, more?: object) => (await register(token, more)).EndpointArn ?? ''
const attributesOf = async (EndpointArn: string) =>
  (await sns.client.send(new GetEndpointAttributesCommand({ EndpointArn }))).Attributes
const setEndpoint = (EndpointArn: string, Attributes: Record<string, string>) =>
  sns.client.send(new SetEndpointAttributesCommand({ EndpointArn, Attributes }))
const remove = (EndpointArn: string) => sns.client.send(new DeleteEndpointCommand({ EndpointArn }))
const listed = (PlatformApplicationArn: string, NextToken?: string) =>
  sns.client.send(new ListEndpointsByPlatformApplicationCommand({ PlatformApplicationArn, NextToken }))

test('[391] a fresh application shows only Enabled', async () => {
  expect(await createShop()).toBe(APP)
  expect(await appAttributes()).toEqual({ Enabled: 'true' })
  const { PlatformApplications } = await sns.client.send(new ListPlatformApplicationsCommand({}))
  expect(PlatformApplications).toEqual([{ PlatformApplicationArn: APP, Attributes: { Enabled: 'true' } }])
})

test('each platform takes the credential of its kind, and the same one again', async () => {
  const given = {
    GCM: FIREBASE,
    APNS: appleCredential(),
    APNS_SANDBOX: appleCredential(),
    WEBPUSH: vapidCredential(),
  }
  for (const [platform, attributes] of Object.entries(given)) {
    const made = await createApp(platform, attributes)
    expect(made.PlatformApplicationArn).toBe(`arn:aws:sns:us-east-1:000000000000:app/${platform}/shop`)
    expect((await createApp(platform, attributes)).PlatformApplicationArn).toBe(made.PlatformApplicationArn)
  }
  expect(await refusalOf(createApp('GCM', firebaseCredential()))).toEqual(
    invalid('Name Reason: An application with the same name but different properties already exists'),
  )
})

test('[392] a credential never comes back, and is sealed in Redis', async () => {
  await createApp('APNS', appleCredential())
  await createShop()
  const texts = await Promise.all((await sns.api.redis.keys('*:app:*')).map((key) => sns.api.redis.get(key)))
  expect(texts).toHaveLength(2)
  for (const text of texts) {
    expect(text).not.toMatch(/PRIVATE KEY|service_account|ABC123DEFG/)
    expect(JSON.parse(text ?? '').sealed).toEqual(expect.any(String))
  }
  expect(JSON.stringify([await appAttributes(), sns.api.events])).not.toMatch(/PRIVATE KEY|service_account/)
})

test('the form of an ARN is judged before the attributes, and these before anything is looked up', async () => {
  const elements = (name: string) => invalid(`${name} Reason: An ARN must have at least 6 elements, not 1`)
  const slashes = (name: string) =>
    invalid(`${name} Reason: Wrong number of slashes in relative portion of the ARN.`)
  const setsApp = [setApp, 'PlatformApplicationArn', APP.replace('GCM', 'NONE')] as const
  const setsEndpoint = [setEndpoint, 'EndpointArn', `${APP.replace(':app/', ':endpoint/')}/x`] as const
  for (const [set, name, unknown] of [setsApp, setsEndpoint]) {
    for (const attributes of [{}, { Enabled: 'maybe' }] as Record<string, string>[]) {
      expect(await refusalOf(set('x', attributes))).toEqual(elements(name))
      expect(await refusalOf(set(APP.replace('/shop', ''), attributes))).toEqual(slashes(name))
    }
    expect(await refusalOf(set(unknown, {}))).toMatchObject({ name: 'ValidationError' })
  }
})

test('a new subscription of an endpoint that does not exist is refused; an old one is answered again', async () => {
  const TopicArn = (await sns.client.send(new CreateTopicCommand({ Name: 'devices' }))).TopicArn
  const subscribe = (Endpoint: string) =>
    sns.client.send(new SubscribeCommand({ TopicArn, Protocol: 'application', Endpoint }))
  await createShop()
  const [kept, never] = [await endpointOf('kept'), await endpointOf('never subscribed')]
  const { SubscriptionArn } = await subscribe(kept)
  for (const arn of [kept, never]) await remove(arn)
  const missingDevice = invalid(`Endpoint Reason: Endpoint does not exist for endpoint arn${never}`)
  expect(await refusalOf(subscribe(never))).toEqual(missingDevice)
  const native = (endpoint: string) =>
    sns.api.call('POST', '/v1/topics/devices/subscriptions', { body: { protocol: 'application', endpoint } })
  expect((await native(never)).body.error.details).toEqual([
    { path: 'endpoint', message: 'names no platform endpoint' },
  ])
  expect((await subscribe(kept)).SubscriptionArn).toBe(SubscriptionArn)
  const id = SubscriptionArn?.split(':').at(-1)
  const moved = await sns.api.call('PATCH', `/v1/subscriptions/${id}`, { body: { endpoint: never } })
  expect([moved.status, moved.body.error.details[0].path]).toEqual([400, 'endpoint'])
})

test('[390] applications are refused in the words of SNS', async () => {
  const none = {
    name: 'ValidationError',
    message:
      "1 validation error detected: Value null at 'attributes' failed to satisfy constraint: Member must not be null",
    status: 400,
  }
  const refused = (...given: Parameters<typeof createApp>) => refusalOf(createApp(...given))
  expect(await refused('GCM', {})).toEqual(none)
  expect(await refused('ADM', { PlatformPrincipal: 'id' })).toEqual(
    invalid('Attributes Reason: PlatformPrincipal attribute provided without PlatformCredential'),
  )
  expect(await refused('ADM', { PlatformCredential: 'secret' })).toEqual(
    invalid('Attributes Reason: PlatformCredential attribute provided without PlatformPrincipal'),
  )
  expect(await refused('AAA', FIREBASE)).toEqual(invalid('Platform Reason: AAA is not supported'))
  expect(await refused('ADM', { PlatformPrincipal: 'id', PlatformCredential: 'secret' })).toEqual(
    invalid(
      'Platform Reason: ADM is not supported: this service delivers to GCM, APNS, APNS_SANDBOX and WEBPUSH',
    ),
  )
  const long = 'n'.repeat(257)
  expect(await refused('GCM', FIREBASE, long)).toEqual(
    invalid(`${long} Reason: must be at most 256 characters long`),
  )
  expect(await refused('GCM', FIREBASE, '')).toEqual(invalid(' Reason: cannot be empty'))
  expect(await refused('GCM', FIREBASE, '@name')).toEqual(
    invalid("@name Reason: must contain only characters 'a'-'z', 'A'-'Z', '0'-'9', '_', '-', and '.'"),
  )
  for (const PlatformCredential of ['AIzaOldKey', '{}', '{"type":"service_account"}'])
    expect(await refused('GCM', { PlatformCredential })).toEqual(
      invalid('Attributes Reason: Platform credentials are invalid'),
    )
  const certificate = { PlatformPrincipal: '-----BEGIN CERTIFICATE-----', PlatformCredential: 'key' }
  expect(await refused('APNS', certificate)).toEqual(
    invalid('Attributes Reason: Platform credentials are invalid'),
  )
  expect(await refused('GCM', { ...FIREBASE, Color: 'red' })).toEqual(
    invalid('Attributes Reason: Invalid attribute name: Color'),
  )
  expect(await refusalOf(setApp(APP, {}))).toEqual(none)
  const short = invalid('PlatformApplicationArn Reason: An ARN must have at least 6 elements, not 1')
  const calls = [
    (arn: string) => appAttributes(arn),
    (arn: string) => setApp(arn, { Enabled: 'false' }),
    (arn: string) => register('t', { PlatformApplicationArn: arn }),
    (arn: string) => listed(arn),
  ]
  for (const call of calls) {
    expect(await refusalOf(call('nothing'))).toEqual(short)
    expect(await refusalOf(call(APP))).toEqual(missing('PlatformApplication'))
  }
})

test('attributes are set and reset; topics of events must exist', async () => {
  await createShop()
  await sns.client.send(new CreateTopicCommand({ Name: 'events' }))
  await setApp(APP, {
    EventEndpointCreated: topicArn('events'),
    SuccessFeedbackSampleRate: '5',
    Enabled: 'FALSE',
  })
  const set = { Enabled: 'false', EventEndpointCreated: topicArn('events'), SuccessFeedbackSampleRate: '5' }
  expect(await appAttributes()).toEqual(set)
  await setApp(APP, { EventEndpointCreated: '' })
  expect(await appAttributes()).toEqual({ Enabled: 'false', SuccessFeedbackSampleRate: '5' })
  const unknown = await refusalOf(setApp(APP, { EventDeliveryFailure: topicArn('none') }))
  expect(unknown.message).toContain('EventDeliveryFailure: must be the ARN of a topic that exists')
})

test('[393][394] a token has one endpoint, and other data are refused with its ARN', async () => {
  await createShop()
  const arn = await endpointOf('token-1', { CustomUserData: 'ada' })
  expect(arn).toMatch(/^arn:aws:sns:us-east-1:000000000000:endpoint\/GCM\/shop\/[0-9a-f-]{36}$/)
  expect(await endpointOf('token-1', { CustomUserData: 'ada' })).toBe(arn)
  const { message } = await refusalOf(register('token-1', { CustomUserData: 'bob' }))
  expect(message).toBe(
    `Invalid parameter: Token Reason: Endpoint ${arn} already exists with the same Token, but different attributes.`,
  )
  // The expression of SNS's own guide.
  const guide = /.*Endpoint (arn:aws:sns[^ ]+) already exists with the same [Tt]oken.*/
  expect(guide.exec(message)?.[1]).toBe(arn)
  const both = await endpointOf('token-2', { CustomUserData: 'bob', Attributes: { CustomUserData: 'ada' } })
  expect(await attributesOf(both)).toEqual({ Enabled: 'true', Token: 'token-2', CustomUserData: 'ada' })
})

test('[390][395] endpoints are refused in the words of SNS', async () => {
  await createShop()
  expect(await refusalOf(register('t', { CustomUserData: 'é'.repeat(1025) }))).toEqual(
    invalid(
      'Attributes Reason: Invalid value for attribute: CustomUserData: must be at most 2048 bytes long in UTF-8 encoding',
    ),
  )
  expect(await refusalOf(register('t', { Attributes: { Color: 'red' } }))).toEqual(
    invalid('Attributes Reason: Invalid attribute name: Color'),
  )
  expect(await refusalOf(register('t'.repeat(8193)))).toEqual(
    invalid('Token Reason: must be at most 8192 bytes long in UTF-8 encoding'),
  )
  const [one, other] = [await endpointOf('one'), await endpointOf('other')]
  expect(await refusalOf(setEndpoint(other, { Token: 'one' }))).toEqual(
    invalid('Token Reason: This endpoint is already registered with a different token'),
  )
  expect((await refusalOf(setEndpoint(one, {}))).name).toBe('ValidationError')
  const unknown = one.replace(/[0-9a-f-]{36}$/, '5e3e9847-3183-4f18-a7e8-671c3a57d4b3')
  expect(await refusalOf(attributesOf(unknown))).toEqual(missing('Endpoint'))
  expect(await refusalOf(setEndpoint(unknown, { Enabled: 'true' }))).toEqual(missing('Endpoint'))
  expect(await refusalOf(attributesOf('arn:aws:sns:us-east-1:000000000000:endpoint/GCM/shop'))).toEqual(
    invalid('EndpointArn Reason: Wrong number of slashes in relative portion of the ARN.'),
  )
})

test('a token of Apple is hexadecimal and kept in lower case', async () => {
  await createApp('APNS', appleCredential())
  const PlatformApplicationArn = APP.replace('GCM', 'APNS')
  const arn = await endpointOf('AB12', { PlatformApplicationArn })
  expect(await attributesOf(arn)).toMatchObject({ Token: 'ab12' })
  for (const token of ['xyz', 'a'.repeat(401)])
    expect(await refusalOf(register(token, { PlatformApplicationArn }))).toEqual(
      invalid('Token Reason: iOS device tokens must be no more than 400 hexadecimal characters'),
    )
})

test('a browser is its subscription, and must be reachable', async () => {
  await createApp('WEBPUSH', vapidCredential())
  const PlatformApplicationArn = APP.replace('GCM', 'WEBPUSH')
  const { token } = browserSubscription('https://push.example.com/send/1')
  const spaced = JSON.stringify({ expirationTime: null, ...JSON.parse(token) }, null, 2)
  expect(await endpointOf(spaced, { PlatformApplicationArn })).toBe(
    await endpointOf(token, { PlatformApplicationArn }),
  )
  const { addressGuard } = sns.api.deps
  sns.api.deps.addressGuard = createAddressGuard({ allowPrivate: false })
  const metadata = browserSubscription('https://169.254.169.254/latest').token
  const { message } = await refusalOf(register(metadata, { PlatformApplicationArn }))
  sns.api.deps.addressGuard = addressGuard
  expect(message).toContain('169.254.169.254 is refused')
})

test('[400] creating again does not enable a disabled endpoint', async () => {
  await createShop()
  const arn = await endpointOf('token-1')
  await setEndpoint(arn, { Enabled: 'false' })
  expect(await endpointOf('token-1')).toBe(arn)
  expect(await attributesOf(arn)).toEqual({ Enabled: 'false', Token: 'token-1' })
  await setEndpoint(arn, { Enabled: 'true', Token: 'token-2' })
  expect(await attributesOf(arn)).toEqual({ Enabled: 'true', Token: 'token-2' })
  expect(await endpointOf('token-2')).toBe(arn)
  expect(await endpointOf('token-1')).not.toBe(arn)
})

test('[396] deleting twice succeeds, also after the application is gone', async () => {
  await createShop()
  const [arn, other] = [await endpointOf('token-1'), await endpointOf('token-2')]
  for (let i = 0; i < 2; i++) expect((await remove(arn)).$metadata.httpStatusCode).toBe(200)
  expect(await endpointOf('token-1')).not.toBe(arn)
  const command = new DeletePlatformApplicationCommand({ PlatformApplicationArn: APP })
  for (let i = 0; i < 2; i++) expect((await sns.client.send(command)).$metadata.httpStatusCode).toBe(200)
  expect(await refusalOf(listed(APP))).toEqual(missing('PlatformApplication'))
  expect((await remove(other)).$metadata.httpStatusCode).toBe(200)
  expect(await sns.api.redis.keys('*device*')).toEqual([])
})

test('[397] endpoints are listed in pages of a hundred', async () => {
  await createShop()
  const arns = await Promise.all(Array.from({ length: 103 }, (_, i) => endpointOf(`token-${i}`)))
  const first = await listed(APP)
  expect(first.Endpoints).toHaveLength(100)
  const last = await listed(APP, first.NextToken)
  expect(last.NextToken).toBeUndefined()
  const found = [...(first.Endpoints ?? []), ...(last.Endpoints ?? [])].map(({ EndpointArn }) => EndpointArn)
  expect(found.sort()).toEqual(arns.sort())
  expect((await refusalOf(listed(APP, 'bad'))).message).toBe('Invalid parameter: NextToken')
})

test('[401] the topics of events hear of endpoints', async () => {
  await createShop()
  await sns.client.send(new CreateTopicCommand({ Name: 'events' }))
  const events = topicArn('events')
  const names = ['EventEndpointCreated', 'EventEndpointUpdated', 'EventEndpointDeleted']
  await setApp(APP, Object.fromEntries(names.map((name) => [name, events])))
  const arn = await endpointOf('token-1')
  await endpointOf('token-1')
  await setEndpoint(arn, { CustomUserData: 'ada' })
  await remove(arn)
  await remove(arn)
  const published = (await sns.api.published()).map(({ message }) => JSON.parse(message))
  expect(published.map(({ EventType }) => EventType).sort()).toEqual([
    'EndpointCreated',
    'EndpointDeleted',
    'EndpointUpdated',
  ])
  for (const event of published)
    expect(event).toMatchObject({ EndpointArn: arn, Resource: APP, Service: 'SNS' })
})

test('a topic of events that is gone changes nothing, and is logged', async () => {
  await createShop()
  await sns.client.send(new CreateTopicCommand({ Name: 'events' }))
  await setApp(APP, { EventEndpointCreated: topicArn('events') })
  await sns.api.deps.topics.delete(topicArn('events'))
  sns.api.deps.topicCache.forget(topicArn('events'))
  expect(await endpointOf('token-1')).toContain('/GCM/shop/')
  expect(sns.api.events).toContainEqual(expect.objectContaining({ event: 'push.event_lost' }))
})
