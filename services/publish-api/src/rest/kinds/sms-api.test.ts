/**
 * Text messages over both APIs: numbers, attributes, the opt-out list and the sandbox. The requests are made with the
 * AWS SDK.
 */
import {
  CheckIfPhoneNumberIsOptedOutCommand,
  CreateSMSSandboxPhoneNumberCommand,
  DeleteSMSSandboxPhoneNumberCommand,
  GetSMSAttributesCommand,
  GetSMSSandboxAccountStatusCommand,
  GetSubscriptionAttributesCommand,
  ListOriginationNumbersCommand,
  ListPhoneNumbersOptedOutCommand,
  ListSMSSandboxPhoneNumbersCommand,
  OptInPhoneNumberCommand,
  SetSMSAttributesCommand,
  SubscribeCommand,
  VerifySMSSandboxPhoneNumberCommand,
} from '@aws-sdk/client-sns'
import { createAttempters } from '@fantail/delivery'
import { MailState, MobilePushState } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../../aws/sns/sns.fixture.ts'

let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  const { deps, redis } = sns.api
  const { sms } = createAttempters({
    sender: { send: () => undefined, openAhead: () => undefined, dial: () => ({ cancel: () => undefined }) },
    vault: undefined,
    appends: { append: () => Promise.reject(new Error('unused')) },
    itemIdOf: () => '',
    clock: Date.now,
    userAgent: undefined,
    mail: new MailState(redis, { clock: Date.now, onProblem: () => undefined }),
    sms: deps.sms,
    mobilePush: new MobilePushState(redis, {
      onDisabled: () => undefined,
      publishUpdated: async () => undefined,
    }),
    protocolSettings: { smsUrl: 'http://127.0.0.1:1', smsCountries: [{ prefix: '+1' }] },
  })
  deps.attempters = { ...deps.attempters, sms }
  for (const name of ['alarms', 'alarms.fifo']) await sns.api.call('PUT', `/v1/topics/${name}`)
})
afterAll(() => sns.stop())

const subscribe = (Endpoint: string, Attributes: Record<string, string> = {}, topic = 'alarms') =>
  sns.client.send(
    new SubscribeCommand({
      TopicArn: topicArn(topic),
      Protocol: 'sms',
      Endpoint,
      Attributes,
      ReturnSubscriptionArn: true,
    }),
  )
const refusal = async (...given: Parameters<typeof subscribe>) =>
  (await refusalOf(subscribe(...given))).message
const natively = (body: object) =>
  sns.api.call('POST', '/v1/topics/alarms/subscriptions', { body: { ...body } })
const attributes = async (names?: string[]) =>
  (await sns.client.send(new GetSMSAttributesCommand({ attributes: names }))).attributes

test('[304] a number is confirmed at once, in one form, and shows no delivery policy', async () => {
  const { SubscriptionArn } = await subscribe('+12/34-567.890')
  const shown = await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  expect(shown.Attributes).toMatchObject({
    Protocol: 'sms',
    Endpoint: '+1234567890',
    PendingConfirmation: 'false',
    ConfirmationWasAuthenticated: 'true',
    RawMessageDelivery: 'false',
  })
  expect(Object.keys(shown.Attributes ?? {}).filter((name) => name.includes('DeliveryPolicy'))).toEqual([])
  expect((await subscribe('+1 234567890')).SubscriptionArn).toBe(SubscriptionArn)
  const { status, body } = await natively({ endpoint: '+15550102' })
  expect([status, body.protocol, body.status]).toEqual([201, 'sms', 'active'])
})

test('[373] a short number is accepted', async () => {
  expect((await subscribe('+123123123')).SubscriptionArn).toContain(topicArn('alarms'))
})

test.each(['invalid-number', '+15--551234567', 'NAA+15551234567', '+15551234567.', '/+15551234567'])(
  '[372] %s is no number',
  async (endpoint) => {
    expect(await refusal(endpoint)).toBe(`Invalid SMS endpoint: ${endpoint}`)
  },
)

test('[302][303][305] FIFO topics, delivery policies and raw delivery are refused', async () => {
  const policy = { DeliveryPolicy: '{"healthyRetryPolicy":{"numRetries":1}}' }
  expect(await refusal('+15550100', {}, 'alarms.fifo')).toBe('Invalid parameter: Invalid protocol type: sms')
  expect(await refusal('+15550100', { RawMessageDelivery: 'true' })).toBe(
    'Invalid parameter: Attributes Reason: Delivery protocol [sms] does not support raw message delivery.',
  )
  expect(await refusal('+15550100', policy)).toContain('DeliveryPolicy')
})

test('a country that the operator does not name is refused over either API', async () => {
  const message = 'must be a number of a country that FANTAIL_SMS_COUNTRIES names'
  expect(await refusal('+4915550100')).toBe(`Invalid parameter: Endpoint Reason: ${message}`)
  expect((await natively({ endpoint: '+4915550100' })).body.error.details).toEqual([
    { path: 'endpoint', message },
  ])
})

test('[374][375][376][377] attributes are read, set, selected and refused as SNS does', async () => {
  const set = (given: Record<string, string>) =>
    sns.client.send(new SetSMSAttributesCommand({ attributes: given }))
  const refusedWith = async (given: Record<string, string>) => {
    const { name, message } = await refusalOf(set(given))
    return [name, message]
  }
  expect(await attributes()).toEqual({ MonthlySpendLimit: '1' })
  const invalid = (message: string) => ['InvalidParameterException', message]
  expect(await refusedWith({ Nothing: '1' })).toEqual(invalid('Nothing is not a valid attribute'))
  expect(await refusedWith({ constructor: '1' })).toEqual(invalid('constructor is not a valid attribute'))
  expect(await refusedWith({ DefaultSMSType: 'x' })).toEqual(invalid('DefaultSMSType is invalid'))
  expect(await refusedWith({ MonthlySpendLimit: '2' })).toEqual(invalid('MonthlySpendLimit is invalid'))
  expect(await refusedWith({ DefaultSenderID: '123' })).toEqual(invalid('DefaultSenderID is invalid'))
  expect(await attributes()).toEqual({ MonthlySpendLimit: '1' })
  await set({ DefaultSMSType: 'Transactional', DefaultSenderID: 'Fantail' })
  expect(await attributes(['DefaultSMSType', 'DefaultSenderID', 'UsageReportS3Bucket'])).toEqual({
    DefaultSMSType: 'Transactional',
    DefaultSenderID: 'Fantail',
  })
})

test('[378][379] numbers are opted out natively, seen by the SDK, and opted in once more', async () => {
  const isOptedOut = async (phoneNumber: string) =>
    (await sns.client.send(new CheckIfPhoneNumberIsOptedOutCommand({ phoneNumber }))).isOptedOut
  const optIn = (phoneNumber: string) => sns.client.send(new OptInPhoneNumberCommand({ phoneNumber }))
  const path = '/v1/sms/opt-outs/+15550100'
  expect((await sns.api.call('GET', path)).status).toBe(404)
  const put = await sns.api.call('PUT', '/v1/sms/opt-outs/+1-5550100')
  expect([put.status, put.body]).toEqual([200, { number: '+15550100' }])
  expect([await isOptedOut('+15550100'), await isOptedOut('+15550101')]).toEqual([true, false])
  const listed = await sns.client.send(new ListPhoneNumbersOptedOutCommand({}))
  expect([listed.phoneNumbers, listed.nextToken]).toEqual([['+15550100'], undefined])
  expect((await sns.api.call('GET', '/v1/sms/opt-outs')).body).toEqual({
    optOuts: [{ number: '+15550100' }],
    nextCursor: null,
  })
  for (const number of ['+15550100', '+15550199']) {
    expect((await optIn(number)).$metadata.httpStatusCode).toBe(200)
  }
  expect(await isOptedOut('+15550100')).toBe(false)
  expect((await refusalOf(optIn('abc'))).message).toBe(
    'Invalid parameter: PhoneNumber Reason: input incorrectly formatted',
  )
  expect((await sns.api.call('DELETE', path)).status).toBe(204)
  expect((await sns.api.call('PUT', '/v1/sms/opt-outs/abc')).status).toBe(400)
})

test('the native API reads and changes the same settings, up to the operator’s bound', async () => {
  const changed = await sns.api.call('PATCH', '/v1/sms', {
    body: { monthlySpendLimitUsd: 0, defaultSenderId: 'Shop' },
  })
  expect([changed.status, changed.body]).toMatchObject([
    200,
    { monthlySpendLimitUsd: 0, spentThisMonthUsd: 0, defaultSenderId: 'Shop' },
  ])
  expect(await attributes(['MonthlySpendLimit'])).toEqual({ MonthlySpendLimit: '0' })
  const refused = await sns.api.call('PATCH', '/v1/sms', { body: { monthlySpendLimitUsd: 2 } })
  expect(refused.body.error.details).toEqual([
    { path: 'monthlySpendLimitUsd', message: 'must be at most 1, as FANTAIL_SMS_MONTH_USD says' },
  ])
  expect((await sns.api.call('GET', '/v1/sms')).body).toEqual(changed.body)
})

test('[381][382] the sandbox answers set-up scripts, and nobody is in it', async () => {
  const send = sns.client.send.bind(sns.client)
  expect((await send(new GetSMSSandboxAccountStatusCommand({}))).IsInSandbox).toBe(false)
  expect((await send(new ListOriginationNumbersCommand({}))).PhoneNumbers).toEqual([])
  const [PhoneNumber, other] = ['+15550100', '+15550101']
  for (const one of [PhoneNumber, other]) {
    await send(new CreateSMSSandboxPhoneNumberCommand({ PhoneNumber: one, LanguageCode: 'de-DE' }))
  }
  await send(new VerifySMSSandboxPhoneNumberCommand({ PhoneNumber, OneTimePassword: '123456' }))
  const first = await send(new ListSMSSandboxPhoneNumbersCommand({ MaxResults: 1 }))
  expect(first.PhoneNumbers).toEqual([{ PhoneNumber, Status: 'Verified' }])
  const second = await send(new ListSMSSandboxPhoneNumbersCommand({ NextToken: first.NextToken }))
  expect([second.PhoneNumbers, second.NextToken]).toEqual([
    [{ PhoneNumber: other, Status: 'Pending' }],
    undefined,
  ])
  await send(new DeleteSMSSandboxPhoneNumberCommand({ PhoneNumber }))
  const gone = await refusalOf(send(new DeleteSMSSandboxPhoneNumberCommand({ PhoneNumber })))
  expect([gone.name, gone.message]).toEqual(['ResourceNotFoundException', 'Phone number does not exist'])
  const wrong = [
    new ListSMSSandboxPhoneNumbersCommand({ MaxResults: 101 }),
    new ListSMSSandboxPhoneNumbersCommand({ MaxResults: 0 }),
  ]
  for (const command of wrong) {
    expect((await refusalOf(send(command))).message).toContain('MaxResults')
  }
})
