/** Confirming and unsubscribing, with the SDK's signed calls and with the links in messages. */
import { ConfirmSubscriptionCommand, type SNSClient, UnsubscribeCommand } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitingIn } from '../../../fixtures/test-api.fixture.ts'
import { ACCOUNT, refusalOf, type SnsApi, startSnsApi, topicArn } from '../sns.fixture.ts'

const TOPIC = topicArn('orders')
const NEVER = '000b1478-1b20-8eb5-9000-0abada1c0c5f'
const HEX = '0'.repeat(288)
let sns: SnsApi
let endpoints = 0

beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.deps.topics.put(TOPIC, {})
})

afterAll(() => sns.stop())

interface Made {
  id: string
  arn: string
}

async function subscribe(confirmation = 'none'): Promise<Made> {
  const endpoint = `https://example.com/${endpoints++}`
  const { body } = await sns.api.call('POST', '/v1/topics/orders/subscriptions', {
    body: { endpoint, confirmation },
  })
  return body
}

/** A pending subscription, and the token that was sent to its endpoint. */
async function pending(): Promise<Made & { token: string }> {
  const made = await subscribe('handshake')
  const [message] = await waitingIn(sns.api, made.id)
  return { ...made, token: message?.token ?? '' }
}

const confirm = (Token: string, set: { TopicArn?: string; AuthenticateOnUnsubscribe?: string } = {}) =>
  sns.client.send(new ConfirmSubscriptionCommand({ TopicArn: TOPIC, Token, ...set }))
const unsubscribe = (SubscriptionArn: string, client: SNSClient = sns.client) =>
  client.send(new UnsubscribeCommand({ SubscriptionArn }))
const followConfirm = (Token: string, TopicArn = TOPIC) =>
  sns.follow({ Action: 'ConfirmSubscription', TopicArn, Token })
const followUnsubscribe = (SubscriptionArn: string) => sns.follow({ Action: 'Unsubscribe', SubscriptionArn })
const record = (id: string) => sns.api.deps.subscriptions.get(id)
const refused = (message: string) => ({ name: 'InvalidParameterException', status: 400, message })

test('[58][59] a signed call with the token confirms, as often as it is made', async () => {
  const { id, arn, token } = await pending()
  for (let i = 0; i < 2; i++) expect((await confirm(token)).SubscriptionArn).toBe(arn)
  expect(await record(id)).toMatchObject({ status: 'active', confirmationWasAuthenticated: true })
})

test('[57] the link confirms without a signature, and is not taken for one', async () => {
  const { id, arn, token } = await pending()
  const { status, text } = await followConfirm(token)
  expect(status).toBe(200)
  expect(text).toMatch(
    /^<ConfirmSubscriptionResponse xmlns="http:\/\/sns\.amazonaws\.com\/doc\/2010-03-31\/">/,
  )
  expect(text).toContain(`<SubscriptionArn>${arn}</SubscriptionArn>`)
  expect((await record(id))?.confirmationWasAuthenticated).toBeUndefined()
})

test('[63] another topic’s ARN of the region confirms the token’s subscription, even where there is none', async () => {
  for (const TopicArn of [topicArn('never-made'), TOPIC.replace(ACCOUNT, '111111111111')]) {
    const { arn, token } = await pending()
    expect((await confirm(token, { TopicArn })).SubscriptionArn).toBe(arn)
  }
  const { arn, token } = await pending()
  expect((await followConfirm(token, topicArn('never-made'))).text).toContain(arn)
})

test('[60][61][62] tokens that do not confirm are refused', async () => {
  expect(await refusalOf(confirm(HEX))).toEqual(refused('Invalid parameter: Token'))
  expect(await refusalOf(confirm('abc123'))).toEqual(refused('Invalid parameter: Token'))
  const nowhere = { TopicArn: topicArn('never-made') }
  expect(await refusalOf(confirm(HEX, nowhere))).toEqual(refused('Invalid parameter: Token'))
  expect(await refusalOf(confirm('randomtoken'))).toEqual(refused('Invalid token'))
  const { token } = await pending()
  for (const TopicArn of [
    'orders',
    'arn:aws:sns:us-east-1:1:orders',
    TOPIC.replace('us-east-1', 'eu-west-1'),
    `${TOPIC}:${NEVER}`,
    'arn:aws:sqs:us-east-1:000000000000:orders',
  ]) {
    expect(await refusalOf(confirm(token, { TopicArn }))).toEqual(refused('Invalid parameter: Topic'))
  }
})

test('[60][62] links that do not confirm are refused', async () => {
  const { token } = await pending()
  for (const [Token, TopicArn, text] of [
    ['abc123', TOPIC, 'Token'],
    ['randomtoken', TOPIC, 'Token'],
    [HEX, topicArn('never-made'), 'Token'],
    [token, 'orders', 'Topic'],
    [token, TOPIC.replace('us-east-1', 'eu-west-1'), 'Topic'],
    [HEX, TOPIC.replace('us-east-1', 'eu-west-1'), 'Topic'],
  ] as const) {
    const answer = await followConfirm(Token, TopicArn)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(
      `<Type>Sender</Type><Code>InvalidParameter</Code><Message>Invalid parameter: ${text}</Message>`,
    )
  }
  expect((await sns.follow({ Action: 'ConfirmSubscription', TopicArn: TOPIC })).text).toContain(
    'Invalid parameter: Token Reason: no value for required parameter',
  )
})

test('a link of a topic in another region than the default one works', async () => {
  const elsewhere = TOPIC.replace('us-east-1', 'eu-west-1')
  await sns.api.deps.topics.put(elsewhere, {})
  const path = `/v1/topics/${encodeURIComponent(elsewhere)}/subscriptions`
  const body = { endpoint: 'https://example.com/eu', confirmation: 'handshake' }
  const { id, arn } = (await sns.api.call('POST', path, { body })).body
  const [message] = await waitingIn(sns.api, id)
  expect((await followConfirm(message?.token ?? '', elsewhere)).text).toContain(arn)
  expect((await followUnsubscribe(arn)).status).toBe(200)
  expect(await record(id)).toMatchObject({ unsubscribed: true })
})

test('[64] a token stops working after two days', async () => {
  const { token } = await pending()
  const { clock } = sns.api.deps
  sns.api.deps.clock = () => clock() + 172_800_001
  try {
    expect(await refusalOf(confirm(token))).toEqual(refused('Invalid parameter: Token'))
  } finally {
    sns.api.deps.clock = clock
  }
  expect((await confirm(token)).SubscriptionArn).toBeDefined()
})

test('[144] a signed call removes the subscription permanently, and again is fine', async () => {
  const { id, arn } = await subscribe()
  for (let i = 0; i < 2; i++) await unsubscribe(arn)
  expect(await record(id)).toBeNull()
})

test('[74][75] the link asks the endpoint, whose link restores the subscription', async () => {
  const { id, arn } = await subscribe()
  const { status, text } = await followUnsubscribe(arn)
  expect(status).toBe(200)
  expect(text).toMatch(/^<UnsubscribeResponse xmlns="[^"]+"><ResponseMetadata><RequestId>[^<]+/)
  const [asked] = await waitingIn(sns.api, id)
  expect(asked).toMatchObject({ kind: 'UnsubscribeConfirmation', publicUrl: sns.endpoint })
  expect((await sns.api.call('GET', `/v1/subscriptions/${id}`)).status).toBe(404)
  expect((await followConfirm(asked?.token ?? '')).text).toContain(arn)
  expect((await sns.api.call('GET', `/v1/subscriptions/${id}`)).body.status).toBe('active')
})

test('[76] after a signed confirmation that asks for it, only a signed call unsubscribes', async () => {
  const { id, arn, token } = await pending()
  await confirm(token, { AuthenticateOnUnsubscribe: 'true' })
  const { status, text } = await followUnsubscribe(arn)
  expect(status).toBe(403)
  expect(text).toContain('<Code>AuthorizationError</Code>')
  expect(text).toContain(`is not authorized to perform: SNS:Unsubscribe on resource: ${arn}`)
  expect(await record(id)).toMatchObject({ unsubscribed: false, authenticateOnUnsubscribe: true })
  await unsubscribe(arn)
  expect(await record(id)).toBeNull()
})

test('the link cannot ask for it', async () => {
  const { id, token } = await pending()
  const asked = { Action: 'ConfirmSubscription', TopicArn: TOPIC, Token: token }
  await sns.follow({ ...asked, AuthenticateOnUnsubscribe: 'true' })
  expect((await record(id))?.authenticateOnUnsubscribe).toBeUndefined()
})

test('another account may not unsubscribe', async () => {
  const { id, arn } = await subscribe()
  const refusal = await refusalOf(unsubscribe(arn, sns.clientOf({ account: '111111111111' })))
  expect(refusal).toMatchObject({ name: 'AuthorizationErrorException', status: 403 })
  expect(refusal.message).toContain('is not authorized to perform: SNS:Unsubscribe on resource')
  expect(await record(id)).not.toBeNull()
})

test('[145] texts that name no subscription are refused', async () => {
  const reason = 'SubscriptionArn Reason'
  for (const [arn, message] of [
    ['pending confirmation', `${reason}: An ARN must have at least 6 elements, not 1`],
    [TOPIC, 'SubscriptionId'],
    [`${TOPIC.replace('us-east-1', 'eu-west-1')}:${NEVER}`, 'SubscriptionArn'],
    [`${TOPIC}:not/an/id`, 'SubscriptionArn'],
  ] as const) {
    expect(await refusalOf(unsubscribe(arn))).toEqual(refused(`Invalid parameter: ${message}`))
  }
  const { status, text } = await sns.follow({ Action: 'Unsubscribe' })
  expect(status).toBe(400)
  expect(text).toContain(`Invalid parameter: ${reason}: no value for required parameter`)
})

test('[144] a subscription that never was, or is another topic’s, is left alone with 200', async () => {
  await unsubscribe(`${TOPIC}:${NEVER}`)
  const { id, arn } = await subscribe()
  await unsubscribe(arn.replace(':orders:', ':other:'))
  expect(await record(id)).not.toBeNull()
})

test('a pending subscription, and one without a confirmation, are deleted at once', async () => {
  const { id, arn } = await pending()
  await followUnsubscribe(arn)
  expect(await record(id)).toBeNull()
})
