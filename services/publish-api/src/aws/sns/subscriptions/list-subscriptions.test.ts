/** Lists of subscriptions with the SDK's client. */
import {
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  paginateListSubscriptions,
  paginateListSubscriptionsByTopic,
  type Subscription,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns'
import { placeOfSubscription, shardBase, subscriptionsKey } from '@fantail/store'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitingIn } from '../../../fixtures/test-api.fixture.ts'
import { ACCOUNT, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
let sns: SnsApi

beforeAll(async () => {
  sns = await startSnsApi()
})
beforeEach(async () => {
  await sns.api.redis.flushall()
  await sns.api.deps.topics.put(TOPIC, {})
})
afterAll(() => sns.stop())

async function subscribe(endpoint: string, topic = TOPIC, confirmation = 'none') {
  const path = `/v1/topics/${encodeURIComponent(topic)}/subscriptions`
  const { body } = await sns.api.call('POST', path, { body: { endpoint, confirmation } })
  return body as { id: string; arn: string }
}

async function all(pages: AsyncIterable<{ Subscriptions?: Subscription[] }>): Promise<string[][]> {
  const lists: string[][] = []
  for await (const { Subscriptions = [] } of pages) {
    lists.push(Subscriptions.map(({ SubscriptionArn }) => SubscriptionArn ?? ''))
  }
  return lists
}

test('[140] pending entries show PendingConfirmation, confirmed ones their ARN', async () => {
  const { id, arn } = await subscribe('https://example.com/a', TOPIC, 'handshake')
  const list = async () =>
    (await sns.client.send(new ListSubscriptionsByTopicCommand({ TopicArn: TOPIC }))).Subscriptions
  const entry = { Owner: ACCOUNT, Protocol: 'https', Endpoint: 'https://example.com/a', TopicArn: TOPIC }
  expect(await list()).toEqual([{ SubscriptionArn: 'PendingConfirmation', ...entry }])
  const [asked] = await waitingIn(sns.api, id)
  await sns.follow({ Action: 'ConfirmSubscription', TopicArn: TOPIC, Token: asked?.token ?? '' })
  expect(await list()).toEqual([{ SubscriptionArn: arn, ...entry }])
})

test('lists come in pages of a hundred, each subscription on one of them', async () => {
  const made = await Promise.all(Array.from({ length: 101 }, (_, i) => subscribe(`https://example.com/${i}`)))
  const arns = made.map(({ arn }) => arn).sort()
  const { client } = sns
  for (const pages of [
    await all(paginateListSubscriptions({ client }, {})),
    await all(paginateListSubscriptionsByTopic({ client }, { TopicArn: TOPIC })),
  ]) {
    expect(pages.map((page) => page.length)).toEqual([100, 1])
    expect(pages.flat().sort()).toEqual(arns)
  }
})

test('an account sees its own, in the region of the call; the list of a topic is of that topic', async () => {
  const others = [TOPIC.replace(ACCOUNT, '111111111111'), TOPIC.replace('us-east-1', 'eu-west-1')]
  for (const arn of others) {
    await sns.api.deps.topics.put(arn, {})
    await subscribe('https://example.com/other', arn)
  }
  const own = await subscribe('https://example.com/own')
  const second = await subscribe('https://example.com/second', TOPIC)
  await sns.api.deps.topics.put(topicArn('more'), {})
  const more = await subscribe('https://example.com/more', topicArn('more'))
  const list = async (client = sns.client) => (await all(paginateListSubscriptions({ client }, {}))).flat()
  expect((await list()).sort()).toEqual([own.arn, second.arn, more.arn].sort())
  expect(await list(sns.clientOf({ account: '111111111111' }))).toHaveLength(1)
  expect(await list(sns.clientOf({ region: 'eu-west-1' }))).toHaveLength(1)
  const { client } = sns
  const [ofTopic] = await all(paginateListSubscriptionsByTopic({ client }, { TopicArn: topicArn('more') }))
  expect(ofTopic).toEqual([more.arn])
})

test('an empty list is empty; bad tokens and missing topics are refused', async () => {
  expect((await sns.client.send(new ListSubscriptionsCommand({}))).Subscriptions).toEqual([])
  expect((await refusalOf(sns.client.send(new ListSubscriptionsCommand({ NextToken: 'x' })))).message).toBe(
    'Invalid parameter: NextToken',
  )
  const missing = new ListSubscriptionsByTopicCommand({ TopicArn: topicArn('none') })
  expect(await refusalOf(sns.client.send(missing))).toEqual({
    name: 'NotFoundException',
    status: 404,
    message: 'Topic does not exist',
  })
})

test('[144] unsubscribed ones are in no list', async () => {
  const { arn } = await subscribe('https://example.com/left')
  await sns.follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  expect((await sns.client.send(new ListSubscriptionsCommand({}))).Subscriptions).toEqual([])
})

test('a signed Unsubscribe removes a subscription whose record cannot be read', async () => {
  const { id, arn } = await subscribe('https://example.com/damaged')
  const { shard = 0, sliceId = '' } = placeOfSubscription(id) ?? {}
  const records = subscriptionsKey(shardBase(shard), sliceId)
  await sns.api.redis.hset(records, id, '{"e":1}')
  await sns.client.send(new UnsubscribeCommand({ SubscriptionArn: arn.replace(':orders:', ':others:') }))
  // The record may say that links are not enough, so a link removes nothing.
  const linked = await sns.follow({ Action: 'Unsubscribe', SubscriptionArn: arn })
  expect([linked.status, linked.text]).toEqual([500, expect.stringContaining('cannot be read')])
  expect(await sns.api.redis.hexists(records, id)).toBe(1)
  await sns.client.send(new UnsubscribeCommand({ SubscriptionArn: arn }))
  expect(await sns.api.redis.hexists(records, id)).toBe(0)
})
