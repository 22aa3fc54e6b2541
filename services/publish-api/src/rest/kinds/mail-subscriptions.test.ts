/** Subscribing mail addresses over both APIs: accepted and refused addresses, and the answers. */
import {
  GetSubscriptionAttributesCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
  type SubscribeCommandInput,
} from '@aws-sdk/client-sns'
import { createAttempters } from '@fantail/delivery'
import { MailState, MobilePushState } from '@fantail/store'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../../aws/sns/sns.fixture.ts'

let sns: SnsApi
let addresses = 0

beforeAll(async () => {
  sns = await startSnsApi()
  const { deps, redis } = sns.api
  const mail = new MailState(redis, { clock: Date.now, onProblem: () => undefined })
  const mobilePush = new MobilePushState(redis, {
    onDisabled: () => undefined,
    publishUpdated: async () => undefined,
  })
  const { email } = createAttempters({
    sender: { send: () => undefined, openAhead: () => undefined, dial: () => ({ cancel: () => undefined }) },
    vault: undefined,
    appends: { append: () => Promise.reject(new Error('unused')) },
    itemIdOf: () => '',
    clock: Date.now,
    userAgent: undefined,
    mail,
    sms: deps.sms,
    mobilePush,
    protocolSettings: { smtpUrl: 'smtp://127.0.0.1:1' },
  })
  deps.attempters = { ...deps.attempters, email, 'email-json': email }
  for (const name of ['news', 'news.fifo']) await sns.api.call('PUT', `/v1/topics/${name}`)
})
afterAll(() => sns.stop())

const address = () => `reader-${addresses++}@example.com`
const subscribe = (input: Partial<SubscribeCommandInput> = {}) =>
  sns.client.send(
    new SubscribeCommand({ TopicArn: topicArn('news'), Protocol: 'email', Endpoint: address(), ...input }),
  )
const refusal = async (input: Partial<SubscribeCommandInput>) => (await refusalOf(subscribe(input))).message
const natively = (body: object, topic = 'news') =>
  sns.api.call('POST', `/v1/topics/${topic}/subscriptions`, { body })

test.each(['email', 'email-json'])(
  '[302][303][305] %s takes no FIFO topic, policy or raw delivery',
  async (Protocol) => {
    expect(await refusal({ Protocol, TopicArn: topicArn('news.fifo') })).toBe(
      `Invalid parameter: Invalid protocol type: ${Protocol}`,
    )
    const raw = await refusal({ Protocol, Attributes: { RawMessageDelivery: 'true' } })
    expect(raw).toContain(`Delivery protocol [${Protocol}] does not support raw message delivery.`)
    const DeliveryPolicy = '{"throttlePolicy":{"maxReceivesPerSecond":1}}'
    const refused = `Delivery protocol [${Protocol}] does not support delivery policies.`
    expect(await refusal({ Protocol, Attributes: { DeliveryPolicy } })).toContain(refused)
    const { SubscriptionArn } = await subscribe({ Protocol, ReturnSubscriptionArn: true })
    const set = { SubscriptionArn, AttributeName: 'DeliveryPolicy', AttributeValue: DeliveryPolicy }
    expect((await refusalOf(sns.client.send(new SetSubscriptionAttributesCommand(set)))).message).toContain(
      refused,
    )
    const { Attributes = {} } = await sns.client.send(
      new GetSubscriptionAttributesCommand({ SubscriptionArn }),
    )
    expect(Object.keys(Attributes).filter((name) => name.includes('DeliveryPolicy'))).toEqual([])
  },
)

test('[317][338] lists of addresses and line breaks are no address', async () => {
  for (const Endpoint of [
    'foo',
    'a@b.example,c@d.example',
    'a@b.example\r\nBcc: c@d.example',
    'A <a@b.example>',
  ]) {
    expect(await refusal({ Endpoint })).toBe('Invalid parameter: Email address')
    expect((await natively({ endpoint: Endpoint, protocol: 'email' })).status).toBe(400)
  }
})

test('a native caller cannot waive the confirmation, and may set a throttle but no retries', async () => {
  expect((await natively({ endpoint: address(), confirmation: 'none' })).status).toBe(400)
  const throttlePolicy = { maxReceivesPerSecond: 2 }
  const made = await natively({ endpoint: address(), deliveryPolicy: { throttlePolicy } })
  expect([made.status, made.body.status, made.body.confirmation]).toEqual([201, 'pending', 'handshake'])
  const healthyRetryPolicy = { numRetries: 1 }
  expect((await natively({ endpoint: address(), deliveryPolicy: { healthyRetryPolicy } })).status).toBe(400)
  expect((await natively({ endpoint: address() }, 'news.fifo')).status).toBe(400)
})

test('the fourth Subscribe of a day for one address is throttled, whatever topic it names', async () => {
  const Endpoint = address()
  for (let n = 1; n <= 3; n++) {
    await sns.api.call('PUT', `/v1/topics/flood-${n}`)
    await subscribe({ Endpoint, TopicArn: topicArn(`flood-${n}`) })
  }
  expect(await refusalOf(subscribe({ Endpoint: Endpoint.toUpperCase() }))).toMatchObject({ status: 429 })
})
