/** DeliveryPolicy and EffectiveDeliveryPolicy of topics by the SDK's client. */
import { CreateTopicCommand, GetTopicAttributesCommand, SetTopicAttributesCommand } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TopicArn = topicArn('orders')
const HEALTHY = {
  minDelayTarget: 20,
  maxDelayTarget: 20,
  numRetries: 3,
  numMaxDelayRetries: 0,
  numNoDelayRetries: 0,
  numMinDelayRetries: 0,
  backoffFunction: 'linear',
}
const SYSTEM_DEFAULT = JSON.stringify({
  http: {
    defaultHealthyRetryPolicy: HEALTHY,
    disableSubscriptionOverrides: false,
    defaultRequestPolicy: { headerContentType: 'text/plain; charset=UTF-8' },
  },
})
const THREE = { minDelayTarget: 5, maxDelayTarget: 6, numRetries: 1 }
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.client.send(new CreateTopicCommand({ Name: 'orders' }))
})
beforeEach(() => set(''))
afterAll(() => sns.stop())

const set = (AttributeValue: string) =>
  sns.client.send(
    new SetTopicAttributesCommand({ TopicArn, AttributeName: 'DeliveryPolicy', AttributeValue }),
  )
const setHttp = (http: object | null) => set(JSON.stringify({ http }))
async function policies() {
  const { Attributes } = await sns.client.send(new GetTopicAttributesCommand({ TopicArn }))
  return { own: Attributes?.DeliveryPolicy, effective: Attributes?.EffectiveDeliveryPolicy }
}

test('[1][2][7] without a policy the system’s default rules; empty text takes a policy away', async () => {
  expect(await policies()).toEqual({ own: undefined, effective: SYSTEM_DEFAULT })
  await setHttp({ disableSubscriptionOverrides: true, defaultThrottlePolicy: { maxReceivesPerSecond: 1 } })
  await set('')
  expect(await policies()).toEqual({ own: undefined, effective: SYSTEM_DEFAULT })
})

test('[3] a request policy comes back with disableSubscriptionOverrides and nothing else', async () => {
  await setHttp({ defaultRequestPolicy: { headerContentType: 'application/json' } })
  expect(await policies()).toEqual({
    own: '{"http":{"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"application/json"}}}',
    effective: SYSTEM_DEFAULT.replace('text/plain; charset=UTF-8', 'application/json'),
  })
})

test('[4] three members of a retry policy come back as three, and as seven in effect', async () => {
  await setHttp({ defaultHealthyRetryPolicy: THREE })
  const { own, effective } = await policies()
  expect(own).toBe(
    '{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":5,"maxDelayTarget":6,"numRetries":1},"disableSubscriptionOverrides":false}}',
  )
  const parsed = JSON.parse(effective ?? '')
  expect(parsed.http.defaultHealthyRetryPolicy).toEqual({ ...HEALTHY, ...THREE })
  expect(Object.keys(parsed.http.defaultHealthyRetryPolicy)).toEqual(Object.keys(HEALTHY))
})

test('[5] a second policy replaces the first entirely', async () => {
  await setHttp({ defaultRequestPolicy: { headerContentType: 'application/json' } })
  await setHttp({ defaultThrottlePolicy: { maxReceivesPerSecond: 7 } })
  expect(await policies()).toEqual({
    own: '{"http":{"disableSubscriptionOverrides":false,"defaultThrottlePolicy":{"maxReceivesPerSecond":7}}}',
    effective: SYSTEM_DEFAULT.replace(
      '"defaultRequestPolicy"',
      '"defaultThrottlePolicy":{"maxReceivesPerSecond":7},"defaultRequestPolicy"',
    ),
  })
})

test('[6] a group that is null counts as left out', async () => {
  for (const http of [{ defaultHealthyRetryPolicy: null }, {}, null]) {
    await setHttp(http)
    expect(await policies()).toEqual({
      own: '{"http":{"disableSubscriptionOverrides":false}}',
      effective: SYSTEM_DEFAULT,
    })
  }
})

test('overrides that are disabled show in both', async () => {
  await setHttp({ disableSubscriptionOverrides: true })
  expect(await policies()).toEqual({
    own: '{"http":{"disableSubscriptionOverrides":true}}',
    effective: SYSTEM_DEFAULT.replace('Overrides":false', 'Overrides":true'),
  })
  const { body } = await sns.api.call('GET', '/v1/topics/orders')
  expect(body).toMatchObject({ disableSubscriptionOverrides: true, deliveryPolicy: {} })
})

test('a policy set natively shows on the wire', async () => {
  const deliveryPolicy = { healthyRetryPolicy: THREE }
  await sns.api.call('PATCH', '/v1/topics/orders', { body: { deliveryPolicy } })
  expect(JSON.parse((await policies()).own ?? '')).toEqual({
    http: { defaultHealthyRetryPolicy: THREE, disableSubscriptionOverrides: false },
  })
})

const retry = (members: object) => ({ http: { defaultHealthyRetryPolicy: { ...THREE, ...members } } })
const PATH = 'http.defaultHealthyRetryPolicy'

test.each<[string, object | string, string]>([
  ['[8]', retry({ numRetries: 101 }), `${PATH}.numRetries must be less than or equal to 100`],
  ['[9]', retry({ minDelayTarget: 0 }), `${PATH}.minDelayTarget must be greater than or equal to 1`],
  [
    '[10]',
    { http: { defaultHealthyRetryPolicy: { maxDelayTarget: 6, numRetries: 1 } } },
    `${PATH}.minDelayTarget must be specified`,
  ],
  [
    '[10]',
    { http: { defaultHealthyRetryPolicy: { minDelayTarget: 5, maxDelayTarget: 6 } } },
    `${PATH}.numRetries must be specified`,
  ],
  [
    '[11]',
    retry({ minDelayTarget: 7 }),
    `${PATH}.maxDelayTarget must be greater than or equal to minDelayTarget`,
  ],
  ['[12]', retry({ maxDelayTarget: 3_601 }), `${PATH}.maxDelayTarget must be less than or equal to 3600`],
  [
    '[13]',
    retry({ numNoDelayRetries: 1, numMaxDelayRetries: 1 }),
    `${PATH}.numRetries must be greater than or equal to total of numMinDelayRetries, numNoDelayRetries and numMaxDelayRetries`,
  ],
  ['[14]', retry({ maxDelayTarget: 3_600, numRetries: 10 }), `${PATH} must delay retries by less`],
  [
    '[15]',
    { http: { throttlePolicy: { maxReceivesPerSecond: 1 } } },
    'Unexpected JSON member: throttlePolicy',
  ],
  ['[15]', { healthyRetryPolicy: THREE }, 'Unexpected JSON member: healthyRetryPolicy'],
  ['[15]', retry({ extra: 1 }), 'Unexpected JSON member: extra'],
  ['[16]', retry({ backoffFunction: 'random' }), `${PATH}.backoffFunction must be one of`],
  [
    '[17]',
    { http: { defaultThrottlePolicy: { maxReceivesPerSecond: 0 } } },
    'http.defaultThrottlePolicy.maxReceivesPerSecond must be greater than or equal to 1',
  ],
  [
    '[18]',
    { http: { defaultRequestPolicy: { headerContentType: 'text/csv' } } },
    'http.defaultRequestPolicy.headerContentType must be one of',
  ],
  ['', { http: { disableSubscriptionOverrides: 'yes' } }, 'http.disableSubscriptionOverrides must be'],
  ['', { http: [] }, 'http must be a JSON object'],
  ['', '[]', 'policy must be a JSON object'],
  ['', 'null', 'policy must be a JSON object'],
  ['', '{', 'failed to parse JSON'],
])('%s %j is refused, in the words of both operations', async (_, policy, text) => {
  const value = typeof policy === 'string' ? policy : JSON.stringify(policy)
  const onSet = await refusalOf(set(value))
  expect(onSet).toMatchObject({ name: 'InvalidParameterException', status: 400 })
  expect(onSet.message).toContain('Invalid parameter: DeliveryPolicy: ')
  expect(onSet.message).toContain(text)
  const Attributes = { DeliveryPolicy: value }
  const onCreate = await refusalOf(sns.client.send(new CreateTopicCommand({ Name: 'other', Attributes })))
  expect(onCreate.message).toContain('Invalid parameter: Attributes Reason: DeliveryPolicy: ')
  expect(onCreate.message).toContain(text)
  expect(await policies()).toEqual({ own: undefined, effective: SYSTEM_DEFAULT })
})
