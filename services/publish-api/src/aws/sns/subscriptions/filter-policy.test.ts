/** FilterPolicy and FilterPolicyScope as attributes, with the SDK's client. */
import {
  GetSubscriptionAttributesCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
} from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueArn, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const FLAT = '{"store":["a",{"prefix":"b"}],"price":[{"numeric":[">",0,"<=",150]}]}'
const NESTED = '{"store":{"name":["a"]}}'
const UNNESTED = 'Filter policy scope MessageAttributes does not support nested filter policy'
let sns: SnsApi
let queues = 0

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.deps.topics.put(TOPIC, {})
})

afterAll(() => sns.stop())

async function subscribe(Attributes: Record<string, string> = {}): Promise<string> {
  const Endpoint = queueArn(`q${queues++}`)
  const command = new SubscribeCommand({ TopicArn: TOPIC, Protocol: 'sqs', Endpoint, Attributes })
  return (await sns.client.send(command)).SubscriptionArn ?? ''
}

const set = (SubscriptionArn: string, AttributeName: string, AttributeValue: string) =>
  sns.client.send(new SetSubscriptionAttributesCommand({ SubscriptionArn, AttributeName, AttributeValue }))

/** The shown attributes of the filter. */
async function shown(SubscriptionArn: string) {
  const { Attributes = {} } = await sns.client.send(new GetSubscriptionAttributesCommand({ SubscriptionArn }))
  const { FilterPolicy, FilterPolicyScope } = Attributes
  return FilterPolicy === undefined && FilterPolicyScope === undefined
    ? 'nothing'
    : [FilterPolicy, FilterPolicyScope]
}

test('[77][99] a policy is shown with its scope while it is set; the scope is remembered', async () => {
  const arn = await subscribe({ FilterPolicyScope: 'MessageBody' })
  expect(await shown(arn)).toBe('nothing')
  await set(arn, 'FilterPolicy', FLAT)
  expect(await shown(arn)).toEqual([FLAT, 'MessageBody'])
  for (const empty of ['{}', '']) {
    await set(arn, 'FilterPolicy', FLAT)
    await set(arn, 'FilterPolicy', empty)
    expect(await shown(arn)).toBe('nothing')
  }
  await set(arn, 'FilterPolicy', NESTED)
  expect(await shown(arn)).toEqual([NESTED, 'MessageBody'])
  expect(await shown(await subscribe({ FilterPolicy: FLAT }))).toEqual([FLAT, 'MessageAttributes'])
})

test('[139] the same policy in other spelling is the same subscription', async () => {
  const Endpoint = queueArn('again')
  const given = { TopicArn: TOPIC, Protocol: 'sqs', Endpoint }
  const subscribed = async (FilterPolicy: string) => {
    const command = new SubscribeCommand({ ...given, Attributes: { FilterPolicy } })
    return (await sns.client.send(command)).SubscriptionArn
  }
  const arn = await subscribed(FLAT)
  expect(await subscribed(JSON.stringify(JSON.parse(FLAT), null, 2))).toBe(arn)
  expect((await refusalOf(subscribed('{"store":["b"]}'))).message).toBe(
    'Invalid parameter: Attributes Reason: Subscription already exists with different attributes',
  )
  expect((await refusalOf(subscribed(''))).message).toContain('different attributes')
})

const SIX = JSON.stringify(Object.fromEntries('abcdef'.split('').map((key) => [key, ['x']])))
const many = (count: number) => JSON.stringify({ a: Array.from({ length: count }, (_, i) => String(i)) })

test.each<[name: string, value: string, text: string]>([
  ['FilterPolicy', SIX, 'FilterPolicy: Filter policy can not have more than 5 keys'],
  ['FilterPolicy', many(151), 'FilterPolicy: Filter policy is too complex'],
  [
    'FilterPolicy',
    '{"a":[{"wildcard":"a*b*c*d*e"}]}',
    'FilterPolicy: Filter policy is too complex: found 4 wildcards in a pattern, the limit is 3',
  ],
  ['FilterPolicy', '{"a":"b"}', 'FilterPolicy: "a" must be an object or an array'],
  ['FilterPolicy', '{"a":[]}', 'FilterPolicy: Empty arrays are not allowed'],
  ['FilterPolicy', '{"a":[{"sounds":"b"}]}', 'FilterPolicy: Unrecognized match type sounds'],
  [
    'FilterPolicy',
    '{"a":["\\ud800"]}',
    'FilterPolicy: failed to parse JSON. A text or number cannot be kept',
  ],
  [
    'FilterPolicyScope',
    'messagebody',
    'FilterPolicyScope: Invalid value [messagebody]. Please use either MessageBody or MessageAttributes',
  ],
  ['FilterPolicy', NESTED, UNNESTED],
])('[100] %s of %.40s is refused, on Subscribe with the reason’s prefix', async (name, value, text) => {
  const refused = { name: 'InvalidParameterException', status: 400 }
  const onSubscribe = await refusalOf(subscribe({ [name]: value }))
  expect(onSubscribe).toMatchObject(refused)
  expect(onSubscribe.message.split('\n')[0]).toBe(`Invalid parameter: Attributes Reason: ${text}`)
  const onSet = await refusalOf(set(await subscribe(), name, value))
  expect(onSet.message.split('\n')[0]).toBe(`Invalid parameter: ${text}`)
})

test('[216] the inside of a nested policy is judged before its nesting', async () => {
  for (const FilterPolicyScope of ['MessageAttributes', 'MessageBody']) {
    const refused = await refusalOf(subscribe({ FilterPolicy: '{"key":{"suffix":"v"}}', FilterPolicyScope }))
    expect(refused.message.split('\n')[0]).toBe(
      'Invalid parameter: Attributes Reason: FilterPolicy: "suffix" must be an object or an array',
    )
  }
})

test('[94] 150 combinations pass; what is no JSON does not', async () => {
  expect(await shown(await subscribe({ FilterPolicy: many(150) }))).toEqual([many(150), 'MessageAttributes'])
  const { message } = await refusalOf(subscribe({ FilterPolicy: '{' }))
  expect(message).toContain('Invalid parameter: Attributes Reason: FilterPolicy: failed to parse JSON. ')
})

test('[95] the scope comes first on the way to a nested policy, and cannot go back while one is set', async () => {
  const arn = await subscribe({ FilterPolicy: FLAT })
  await set(arn, 'FilterPolicyScope', 'MessageBody')
  await set(arn, 'FilterPolicy', NESTED)
  expect((await refusalOf(set(arn, 'FilterPolicyScope', 'MessageAttributes'))).message).toBe(
    `Invalid parameter: ${UNNESTED}`,
  )
  const both = await subscribe({ FilterPolicy: NESTED, FilterPolicyScope: 'MessageBody' })
  expect(await shown(both)).toEqual([NESTED, 'MessageBody'])
})
