/** Subscribe with the SDK's client: the result for each protocol, repeated calls, and every refusal. */
import {
  ConfirmSubscriptionCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SubscribeCommand,
  type SubscribeCommandInput,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns'
import type { Protocol } from '@fantail/contracts'
import { startFairTimer } from '@fantail/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitingIn } from '../../../fixtures/test-api.fixture.ts'
import { ACCOUNT, queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'
import { checkEndpoint } from './subscribe-operation.ts'

const TOPIC = topicArn('orders')
const FIFO = topicArn('orders.fifo')
const PENDING = 'pending confirmation'
const QUEUE = queueArn('work')
let sns: SnsApi
let endpoints = 0

beforeAll(async () => {
  sns = await startSnsApi()
  for (const arn of [TOPIC, FIFO]) await sns.api.deps.topics.put(arn, {})
})

afterAll(() => sns.stop())

const hook = () => `https://example.com/${endpoints++}`
const subscribe = (input: Partial<SubscribeCommandInput>, client = sns.client) =>
  client.send(
    new SubscribeCommand({ TopicArn: TOPIC, Protocol: 'https', ReturnSubscriptionArn: true, ...input }),
  )
const refusal = (input: Partial<SubscribeCommandInput>) => refusalOf(subscribe(input))
const InvalidParameter = (message: string) => ({
  name: 'InvalidParameterException',
  status: 400,
  message: `Invalid parameter: ${message}`,
})

async function record(arn: string | undefined) {
  return sns.api.deps.subscriptions.get(arn?.split(':').at(-1) ?? '')
}

test('[55][56] a webhook is pending and gets a confirmation; its ARN is returned on request', async () => {
  const Endpoint = hook()
  const { SubscriptionArn } = await subscribe({ Endpoint, ReturnSubscriptionArn: undefined })
  expect(SubscriptionArn).toBe(PENDING)
  const again = await subscribe({ Endpoint })
  expect(again.SubscriptionArn).toMatch(
    /^arn:aws:sns:us-east-1:000000000000:orders:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  )
  const made = await record(again.SubscriptionArn)
  expect(made).toMatchObject({ status: 'pending', protocol: 'https', endpoint: Endpoint })
  // The repeated request sent a second confirmation, with a token that replaced the first.
  const asked = await waitingIn(sns.api, made?.id ?? '')
  expect(asked.map(({ kind, publicUrl }) => [kind, publicUrl])).toEqual([
    ['SubscriptionConfirmation', sns.endpoint],
    ['SubscriptionConfirmation', sns.endpoint],
  ])
  expect(asked.map(({ token }) => token)).toContain(made?.token)
})

test('a queue of the caller’s account takes part at once, whether or not it exists', async () => {
  const { SubscriptionArn } = await subscribe({
    Protocol: 'sqs',
    Endpoint: QUEUE,
    ReturnSubscriptionArn: undefined,
  })
  expect(SubscriptionArn).toMatch(/^arn:aws:sns:us-east-1:000000000000:orders:/)
  expect(await record(SubscriptionArn)).toMatchObject({
    status: 'active',
    confirmationWasAuthenticated: true,
    authenticateOnUnsubscribe: true,
  })
})

test('a queue of another account is asked to confirm', async () => {
  const Endpoint = QUEUE.replace(ACCOUNT, '222222222222')
  const { SubscriptionArn } = await subscribe({ Protocol: 'sqs', Endpoint })
  const made = await record(SubscriptionArn)
  expect(made).toMatchObject({ status: 'pending', confirmation: 'handshake' })
  expect(await waitingIn(sns.api, made?.id ?? '')).toMatchObject([
    { kind: 'SubscriptionConfirmation', token: made?.token },
  ])
  const own = await subscribe(
    { Protocol: 'sqs', Endpoint: `${Endpoint}-2` },
    sns.clientOf({ account: '222222222222' }),
  )
  expect((await record(own.SubscriptionArn))?.status).toBe('active')
})

test('[139] the same endpoint again is the same subscription, unless any attribute differs', async () => {
  const Endpoint = hook()
  const Attributes = {
    RawMessageDelivery: 'true',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: QUEUE }),
    DeliveryPolicy: '{"throttlePolicy":{"maxReceivesPerSecond":5}}',
  }
  const { SubscriptionArn } = await subscribe({ Endpoint, Attributes })
  const equal: SubscribeCommandInput['Attributes'][] = [
    undefined,
    {},
    Attributes,
    { RawMessageDelivery: 'TRUE' },
    { FilterPolicyScope: 'MessageAttributes' },
  ]
  for (const same of equal) {
    expect((await subscribe({ Endpoint, Attributes: same })).SubscriptionArn).toBe(SubscriptionArn)
  }
  const differing = InvalidParameter(
    'Attributes Reason: Subscription already exists with different attributes',
  )
  const different: Record<string, string>[] = [
    { RawMessageDelivery: 'false' },
    { FilterPolicyScope: 'MessageBody' },
    { RedrivePolicy: '' },
    { DeliveryPolicy: '{"throttlePolicy":{"maxReceivesPerSecond":6}}' },
  ]
  for (const other of different) {
    expect(await refusal({ Endpoint, Attributes: other })).toEqual(differing)
  }
})

test('a subscription that was made without a handshake needs none', async () => {
  const endpoint = hook()
  const { body } = await sns.api.call('POST', '/v1/topics/orders/subscriptions', { body: { endpoint } })
  const { SubscriptionArn } = await subscribe({ Endpoint: endpoint, ReturnSubscriptionArn: false })
  expect(SubscriptionArn).toBe(body.arn)
})

test('endpoints are compared by their exact text', async () => {
  const one = await subscribe({ Endpoint: 'https://example.com' })
  const two = await subscribe({ Endpoint: 'https://example.com/' })
  expect(one.SubscriptionArn).not.toBe(two.SubscriptionArn)
})

const DEVICE = 'arn:aws:sns:us-east-1:000000000000:endpoint/GCM/a/5e3e9847-3183-4f18-a7e8-671c3a57d4b3'
const UNSERVED = (protocol: string) =>
  `Protocol Reason: this service delivers to http, https, sqs and application endpoints and cannot deliver to ${protocol}`
const MISMATCH = 'Endpoint must match the specified protocol'

test.each<[what: string, input: Partial<SubscribeCommandInput>, message: string]>([
  [
    '[136] an unknown protocol',
    { Protocol: 'ftp', Endpoint: 'x' },
    'Amazon SNS does not support this protocol string: ftp',
  ],
  [
    'a protocol called like a member of objects',
    { Protocol: 'constructor' },
    'Amazon SNS does not support this protocol string: constructor',
  ],
  ['[137] http for https', { Protocol: 'https', Endpoint: 'http://example.com' }, MISMATCH],
  ['[137] https for http', { Protocol: 'http', Endpoint: 'https://example.com' }, MISMATCH],
  ['no URL', { Endpoint: 'example.com' }, MISMATCH],
  ['a URL without a host', { Endpoint: 'https://' }, MISMATCH],
  ['no endpoint', {}, MISMATCH],
  [
    'an underscore in the host',
    { Endpoint: 'https://my_host/' },
    'Endpoint Reason: must have a host name without underscores',
  ],
  [
    'a long URL',
    { Endpoint: `https://example.com/${'x'.repeat(2_048)}` },
    'Endpoint Reason: must have at most 2048 characters',
  ],
  [
    '[138] a queue’s URL',
    { Protocol: 'sqs', Endpoint: 'https://sqs.us-east-1.amazonaws.com/0/q' },
    'SQS endpoint ARN',
  ],
  ['[317] an email address that is none', { Protocol: 'email', Endpoint: 'nobody' }, 'Email address'],
  [
    'an application’s ARN that is none',
    { Protocol: 'application', Endpoint: 'x' },
    'Application endpoint arn invalid:x',
  ],
  [
    '[142] raw delivery to email',
    { Protocol: 'email', Endpoint: 'a@example.com', Attributes: { RawMessageDelivery: 'true' } },
    'Attributes Reason: Delivery protocol [email] does not support raw message delivery.',
  ],
  ['email', { Protocol: 'email', Endpoint: 'a@example.com' }, UNSERVED('email: FANTAIL_SMTP_URL is not set')],
  [
    'email-json',
    { Protocol: 'email-json', Endpoint: 'a@example.com' },
    UNSERVED('email-json: FANTAIL_SMTP_URL is not set'),
  ],
  ['sms', { Protocol: 'sms', Endpoint: '+15550001111' }, `${UNSERVED('sms')}: FANTAIL_SMS_URL is not set`],
  [
    'lambda',
    { Protocol: 'lambda', Endpoint: 'arn:aws:lambda:us-east-1:000000000000:function:f' },
    `${UNSERVED('lambda')}: FANTAIL_FUNCTIONS is not set`,
  ],
  [
    'firehose',
    {
      Protocol: 'firehose',
      Endpoint: 'arn:aws:firehose:us-east-1:000000000000:deliverystream/d',
      Attributes: { SubscriptionRoleArn: 'arn:aws:iam::000000000000:role/x' },
    },
    `${UNSERVED('firehose')}: FANTAIL_STREAMS is not set`,
  ],
  [
    'an application’s ARN without an id',
    { Protocol: 'application', Endpoint: 'arn:aws:sns:us-east-1:000000000000:endpoint/GCM/a/1' },
    'Application endpoint arn invalid:arn:aws:sns:us-east-1:000000000000:endpoint/GCM/a/1',
  ],
  [
    '[305] raw delivery to a platform endpoint',
    { Protocol: 'application', Endpoint: DEVICE, Attributes: { RawMessageDelivery: 'true' } },
    'Attributes Reason: Delivery protocol [application] does not support raw message delivery.',
  ],
  [
    '[302] a platform endpoint on a FIFO topic',
    { TopicArn: FIFO, Protocol: 'application', Endpoint: DEVICE },
    'Invalid protocol type: application',
  ],
  [
    '[302] a stream on a FIFO topic',
    {
      TopicArn: FIFO,
      Protocol: 'firehose',
      Endpoint: 'arn:aws:firehose:us-east-1:000000000000:deliverystream/orders',
    },
    'Invalid protocol type: firehose',
  ],
  [
    '[303] a delivery policy for a platform endpoint',
    {
      Protocol: 'application',
      Endpoint: DEVICE,
      Attributes: { DeliveryPolicy: '{"healthyRetryPolicy":{"numRetries":1}}' },
    },
    'Attributes Reason: DeliveryPolicy: Delivery protocol [application] does not support delivery policies.',
  ],
  [
    '[146] a webhook on a FIFO topic',
    { TopicArn: FIFO, Protocol: 'http', Endpoint: 'http://example.com' },
    'Invalid protocol type: http',
  ],
  [
    'sms on a FIFO topic',
    { TopicArn: FIFO, Protocol: 'sms', Endpoint: '+15550001111' },
    'Invalid protocol type: sms',
  ],
  [
    '[147] a FIFO queue on a standard topic',
    { Protocol: 'sqs', Endpoint: queueArn('q.fifo') },
    'Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics',
  ],
  [
    '[110] a malformed topic',
    { TopicArn: 'orders', Endpoint: 'https://example.com' },
    'TopicArn Reason: An ARN must have at least 6 elements, not 1',
  ],
])('%s is refused', async (_what, input, message) => {
  expect(await refusal(input)).toEqual(InvalidParameter(message))
})

test('a phone number that is none is refused without a prefix', async () => {
  expect((await refusal({ Protocol: 'sms', Endpoint: '555' })).message).toBe('Invalid SMS endpoint: 555')
})

test.each([
  ['https', 'nonsense'],
  ['http', 'https://example.com/other'],
  ['sqs', 'no-arn'],
  ['email', 'nobody'],
])(
  '[212] a topic that is not there is told before the endpoint is judged: %s, %s',
  async (Protocol, Endpoint) => {
    expect(await refusal({ TopicArn: topicArn('none'), Protocol, Endpoint })).toEqual({
      name: 'NotFoundException',
      status: 404,
      message: 'Topic does not exist',
    })
  },
)

test('a topic that is not there', async () => {
  expect(await refusal({ TopicArn: topicArn('none'), Endpoint: hook() })).toEqual({
    name: 'NotFoundException',
    status: 404,
    message: 'Topic does not exist',
  })
})

test('a FIFO topic takes queues of both kinds, and a hundred of them', async () => {
  for (let i = 0; i < 100; i++) {
    await subscribe({ TopicArn: FIFO, Protocol: 'sqs', Endpoint: queueArn(i % 2 ? `q${i}.fifo` : `q${i}`) })
  }
  const last = { TopicArn: FIFO, Protocol: 'sqs', Endpoint: queueArn('q100') }
  expect(await refusal(last)).toMatchObject({ name: 'SubscriptionLimitExceededException', status: 403 })
})

test('with FANTAIL_FIFO_HTTP a FIFO topic takes webhooks too', async () => {
  sns.api.deps.settings.fifoHttp = true
  try {
    await sns.api.deps.topics.put(topicArn('open.fifo'), {})
    const made = await subscribe({ TopicArn: topicArn('open.fifo'), Endpoint: hook() })
    expect((await record(made.SubscriptionArn))?.status).toBe('pending')
  } finally {
    sns.api.deps.settings.fifoHttp = false
  }
})

test('[148] the counts of a topic follow subscribe, confirm and unsubscribe', async () => {
  const TopicArn = topicArn('counted')
  await sns.api.deps.topics.put(TopicArn, {})
  const counts = async () => {
    const { Attributes } = await sns.client.send(new GetTopicAttributesCommand({ TopicArn }))
    const names = ['SubscriptionsPending', 'SubscriptionsConfirmed', 'SubscriptionsDeleted'] as const
    return names.map((name) => Attributes?.[name])
  }
  expect(await counts()).toEqual(['0', '0', '0'])
  const { SubscriptionArn } = await subscribe({ TopicArn, Endpoint: hook() })
  expect(await counts()).toEqual(['1', '0', '0'])
  const { token } = (await record(SubscriptionArn)) ?? {}
  await sns.client.send(new ConfirmSubscriptionCommand({ TopicArn, Token: token ?? '' }))
  expect(await counts()).toEqual(['0', '1', '0'])
  await sns.client.send(new UnsubscribeCommand({ SubscriptionArn }))
  expect(await counts()).toEqual(['0', '0', '1'])
})

test('credentials of an endpoint are shown as asterisks, and refused where they cannot be kept', async () => {
  const Endpoint = 'https://user:s3cret@example.com/credentials'
  const { SubscriptionArn } = await subscribe({ Endpoint })
  const masked = 'https://user:****@example.com/credentials'
  const { Attributes } = await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  expect(Attributes?.Endpoint).toBe(masked)
  const { Subscriptions } = await sns.client.send(new ListSubscriptionsByTopicCommand({ TopicArn: TOPIC }))
  expect(Subscriptions?.map((entry) => entry.Endpoint)).toContain(masked)
  expect(JSON.stringify([await record(SubscriptionArn), Subscriptions])).not.toContain('s3cret')
  const { vault } = sns.api.deps
  sns.api.deps.vault = undefined
  try {
    expect(await refusal({ Endpoint: 'https://user:s3cret@example.com/refused' })).toEqual(
      InvalidParameter(
        'Endpoint Reason: holds a secret, and FANTAIL_MASTER_KEY is not set, so Fantail cannot seal secrets',
      ),
    )
  } finally {
    sns.api.deps.vault = vault
  }
})

test('no endpoint blocks the API, with any length and protocol', async () => {
  const long = 1_000_000
  const fill = ['.', '@', ':', '/', '1', 'a', '+', ' ', '[', '%', 'a@', '1.'].map((part) =>
    part.repeat(long / part.length),
  )
  for (const Protocol of [
    'email',
    'email-json',
    'sms',
    'lambda',
    'firehose',
    'application',
    'sqs',
    'https',
  ] as const) {
    const starts = ['', 'a@', 'https://', 'https://a', '+1', 'arn:aws:sns:us-east-1:000000000000:endpoint/']
    for (const start of starts) {
      for (const middle of fill) {
        const took = startFairTimer()
        expect(judged(Protocol, `${start}${middle}@`)).toMatch(/^(taken|InvalidParameter)$/)
        expect(took()).toBeLessThan(1_000)
      }
    }
  }
})

/** Checks the endpoint without a request, because a hundred requests of a megabyte each would take long. */
function judged(protocol: Protocol, endpoint: string): string {
  try {
    checkEndpoint(protocol, endpoint, sns.api.deps.settings.arn)
    return 'taken'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
