/**
 * Nobody can flood a foreign endpoint by subscribing it: not by repeated requests, not by deleting in between, and over
 * neither API.
 */
import { SubscribeCommand } from '@aws-sdk/client-sns'
import { CONFIRMATIONS_PER_ENDPOINT_MAX } from '@fantail/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusalOf, type SnsApi, startSnsApi, topicArn } from '../aws/sns/sns.fixture.ts'

let sns: SnsApi
beforeAll(async () => {
  sns = await startSnsApi()
  await sns.api.call('PUT', '/v1/topics/spam')
})
afterAll(() => sns.stop())

const Endpoint = 'https://victim.example/hook'
const TopicArn = topicArn('spam')
const subscribe = () => sns.client.send(new SubscribeCommand({ TopicArn, Protocol: 'https', Endpoint }))
const subscribeNatively = (endpoint = Endpoint) =>
  sns.api.call('POST', '/v1/topics/spam/subscriptions', { body: { endpoint, confirmation: 'handshake' } })

async function questions(id: string): Promise<number> {
  return (await sns.api.call('GET', `/v1/subscriptions/${id}`)).body.lane.waiting
}

async function tokenOf(id: string): Promise<string> {
  return (await sns.api.deps.subscriptions.get(id))?.token ?? ''
}

test('an endpoint is asked to confirm so often within an hour, and what it got still confirms', async () => {
  const { id } = (await subscribeNatively()).body
  for (let sent = 1; sent < CONFIRMATIONS_PER_ENDPOINT_MAX; sent++) {
    const again = [
      subscribe,
      subscribeNatively,
      () => sns.api.call('POST', `/v1/subscriptions/${id}/send-confirmation`),
    ]
    await again[sent % 3]?.()
  }
  expect(await questions(id)).toBe(CONFIRMATIONS_PER_ENDPOINT_MAX)
  const token = await tokenOf(id)

  expect(await refusalOf(subscribe())).toMatchObject({ name: 'ThrottledException', status: 429 })
  for (const refused of [
    await subscribeNatively(),
    await sns.api.call('POST', `/v1/subscriptions/${id}/send-confirmation`),
  ]) {
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
  }
  expect(await questions(id)).toBe(CONFIRMATIONS_PER_ENDPOINT_MAX)

  expect(await tokenOf(id)).toBe(token)
  const confirmed = await sns.api.call('POST', `/v1/subscriptions/${id}/confirm`, { body: { token } })
  expect(confirmed.body.status).toBe('active')
  // An active subscription is not asked to confirm, so repeating its Subscribe has no effect.
  expect((await subscribeNatively()).status).toBe(200)
})

test('deleting the subscription in between gains nothing, another endpoint is free', async () => {
  const endpoint = 'https://victim.example/other'
  const take = () => sns.api.deps.confirmationLimits.take({ topicArn: TopicArn, endpoint })
  for (let sent = 0; sent < CONFIRMATIONS_PER_ENDPOINT_MAX - 1; sent++) await take()
  const { id } = (await subscribeNatively(endpoint)).body
  await sns.api.call('DELETE', `/v1/subscriptions/${id}`)
  expect((await subscribeNatively(endpoint)).status).toBe(429)
  expect((await subscribeNatively('https://victim.example/third')).status).toBe(201)
})
