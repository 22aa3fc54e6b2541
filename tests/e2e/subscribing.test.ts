/** The life of a subscription: confirmed, paused, resumed, retried, purged, tested, unsubscribed, restored. */
import { setTimeout } from 'node:timers/promises'
import { SNAPSHOT_AGE_MS_MAX } from '@fantail/contracts'
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import {
  lane,
  notification,
  publish,
  retries,
  type Subscription,
  subscribe,
} from '../harness/receivers/webhooks.ts'
import type { ErrorBody } from '../harness/services/rest-client.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ workers: 2 })
const receiver = useReceiver()
const hook = (path: string) => `${receiver().url}${path}`
const textsAt = (path: string) =>
  receiver()
    .requestsTo(path)
    .map(({ text }) => text)

/**
 * Publishes a last message, and resolves when it has arrived at another subscription of the topic, the witness.
 * Everything published before was then dispatched.
 */
async function passThrough(topic: string): Promise<void> {
  const path = `/${topic}-witness`
  const input = { endpoint: hook(path), rawMessageDelivery: true }
  await stack().client.post(`/v1/topics/${topic}/subscriptions`, input)
  await publish(stack(), topic, 'witnessed')
  // Earlier messages may be dispatched only now, so the witness may get them too.
  await receiver().waitForRequests(1, (request) => request.path === path && request.text === 'witnessed')
}

test('a handshake: nothing but the confirmation before the SubscribeURL was visited, everything after', async () => {
  const { client } = stack()
  const endpoint = hook('/handshake')
  const { id, arn, status } = await subscribe(stack(), 'handshake', { endpoint, confirmation: 'handshake' })
  expect(status).toBe('pending')
  const [asked] = await receiver().waitForRequests(1, '/handshake')
  expect(asked?.headers['x-amz-sns-message-type']).toBe('SubscriptionConfirmation')
  const confirmation = asked && notification(asked)
  expect(confirmation?.SubscribeURL).toContain(`${stack().api.url}/?Action=ConfirmSubscription`)
  await publish(stack(), 'handshake', 'too early')
  await passThrough('handshake')
  const answer = await fetch(confirmation?.SubscribeURL ?? '')
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain(`<SubscriptionArn>${arn}</SubscriptionArn>`)
  expect((await client.get<Subscription>(`/v1/subscriptions/${id}`)).status).toBe('active')
  await publish(stack(), 'handshake', 'in time')
  const requests = await receiver().waitForRequests(2, '/handshake')
  expect(requests.slice(1).map((request) => notification(request).Message)).toEqual(['in time'])
})

test('the unsubscribe link takes effect at once and can be undone from the endpoint', async () => {
  const { client } = stack()
  const { id } = await subscribe(stack(), 'leaving', { endpoint: hook('/leaving') })
  await publish(stack(), 'leaving', 'one')
  const [first] = await receiver().waitForRequests(1, '/leaving')
  const link = (first && notification(first).UnsubscribeURL) ?? ''
  expect((await fetch(link)).status).toBe(200)
  expect((await client.call('GET', `/v1/subscriptions/${id}`)).status).toBe(404)
  const [, asked] = await receiver().waitForRequests(2, '/leaving')
  expect(asked?.headers['x-amz-sns-message-type']).toBe('UnsubscribeConfirmation')
  await publish(stack(), 'leaving', 'missed')
  await passThrough('leaving')
  expect((await fetch((asked && notification(asked).SubscribeURL) ?? '')).status).toBe(200)
  expect((await client.get<Subscription>(`/v1/subscriptions/${id}`)).status).toBe('active')
  await publish(stack(), 'leaving', 'back')
  const [, , last] = await receiver().waitForRequests(3, '/leaving')
  expect(last && notification(last).Message).toBe('back')
})

test('a paused subscription keeps what is published, and gets it in order of publishing when resumed', async () => {
  const { client } = stack()
  const subscription = await subscribe(stack(), 'paused', {
    endpoint: hook('/paused'),
    rawMessageDelivery: true,
  })
  const paused = await client.post<Subscription>(`/v1/subscriptions/${subscription.id}/pause`)
  expect(paused.status).toBe('paused')
  await publish(stack(), 'paused', 'kept')
  await waitFor(async () => (await lane(stack(), subscription)).waiting === 1)
  await passThrough('paused')
  expect(textsAt('/paused')).toEqual([])
  await client.post(`/v1/subscriptions/${subscription.id}/resume`)
  await receiver().waitForRequests(2, '/paused')
  expect(textsAt('/paused').sort()).toEqual(['kept', 'witnessed'])
})

test('/retry makes what waits for a retry due now, /purge discards it', async () => {
  const { client } = stack()
  let status = 503
  receiver().respond('/stuck', () => ({ status }))
  const subscription = await subscribe(stack(), 'stuck', {
    endpoint: hook('/stuck'),
    rawMessageDelivery: true,
    deliveryPolicy: retries(3, { minDelayTarget: 600, maxDelayTarget: 600 }),
  })
  const waits = (n: number) => waitFor(async () => (await lane(stack(), subscription)).waiting === n)
  await publish(stack(), 'stuck', 'first')
  await waits(1)
  expect(await lane(stack(), subscription)).toMatchObject({
    lastFailure: { at: expect.any(String), statusCode: 503, error: null },
    nextAttemptAt: expect.any(String),
  })
  status = 200
  expect(await client.post(`/v1/subscriptions/${subscription.id}/retry`)).toEqual({ moved: 1 })
  await receiver().waitForRequests(2, '/stuck')
  await waits(0)
  status = 503
  for (const text of ['second', 'third']) await publish(stack(), 'stuck', text)
  await waits(2)
  expect(await client.post(`/v1/subscriptions/${subscription.id}/purge`)).toEqual({ discarded: 2 })
  expect(await lane(stack(), subscription)).toMatchObject({ waiting: 0, inFlight: 0 })
})

test('/test makes one attempt and says what came of it', async () => {
  receiver().respond('/tried', { status: 418 })
  const { id } = await subscribe(stack(), 'tried', { endpoint: hook('/tried') })
  const result = await stack().client.post(`/v1/subscriptions/${id}/test`)
  expect(result).toMatchObject({ statusCode: 418, durationMs: expect.any(Number) })
  expect(receiver().requestsTo('/tried')).toHaveLength(1)
  expect((await stack().client.get<Subscription>(`/v1/subscriptions/${id}`)).lane.waiting).toBe(0)
})

test('a moved subscription delivers what waits and what comes 100 ms later to its new endpoint', async () => {
  const { client } = stack()
  const { id } = await subscribe(stack(), 'moved', { endpoint: hook('/from'), rawMessageDelivery: true })
  const path = `/v1/subscriptions/${id}`
  await publish(stack(), 'moved', 'before')
  await receiver().waitForRequests(1, '/from')
  await client.post(`${path}/pause`)
  await publish(stack(), 'moved', 'waiting')
  await waitFor(async () => (await lane(stack(), { id })).waiting === 1)
  await client.patch(path, { endpoint: hook('/to') })
  await client.post(`${path}/resume`)
  await receiver().waitForRequests(1, '/to')
  await client.patch(path, { endpoint: hook('/further') })
  await setTimeout(SNAPSHOT_AGE_MS_MAX)
  await publish(stack(), 'moved', 'after')
  await receiver().waitForRequests(1, '/further')
  expect(['/from', '/to', '/further'].map(textsAt)).toEqual([['before'], ['waiting'], ['after']])
})

test('a deleted subscription gets nothing more, and what waited for it is gone', async () => {
  const { client } = stack()
  const { id } = await subscribe(stack(), 'gone', { endpoint: hook('/gone'), rawMessageDelivery: true })
  await client.post(`/v1/subscriptions/${id}/pause`)
  await publish(stack(), 'gone', 'kept for nobody')
  await waitFor(async () => (await lane(stack(), { id })).waiting === 1)
  await client.delete(`/v1/subscriptions/${id}`)
  await passThrough('gone')
  await waitFor(async () => (await stack().connection.keys(`ft:*:lane:${id}`)).length === 0)
  expect(textsAt('/gone')).toEqual([])
})

test('a change of policy acts on the next attempt, also of what waits', async () => {
  const { client } = stack()
  const subscription = await subscribe(stack(), 'changed', {
    endpoint: hook('/changed'),
    rawMessageDelivery: true,
  })
  const deliveryPolicy = { requestPolicy: { headerContentType: 'text/csv' } }
  await client.patch(`/v1/subscriptions/${subscription.id}`, { deliveryPolicy })
  await publish(stack(), 'changed', 'no JSON')
  const [request] = await receiver().waitForRequests(1, '/changed')
  expect(request?.headers['content-type']).toBe('text/csv')
  await client.put('/v1/topics/changed', { disableSubscriptionOverrides: true })
  await publish(stack(), 'changed', 'no JSON')
  const [, second] = await receiver().waitForRequests(2, '/changed')
  expect(second?.headers['content-type']).toBe('text/plain; charset=UTF-8')
})

test('the same endpoint again is the same subscription, unless it is asked for with other settings', async () => {
  const { client } = stack()
  const endpoint = hook('/twice')
  const { id } = await subscribe(stack(), 'twice', { endpoint })
  const path = '/v1/topics/twice/subscriptions'
  const same = await client.call<Subscription>('POST', path, { body: { endpoint } })
  expect([same.status, same.body.id]).toEqual([200, id])
  const other = await client.call<ErrorBody>('POST', path, { body: { endpoint, rawMessageDelivery: true } })
  expect([other.status, other.body.error.code]).toEqual([409, 'subscription_exists'])
  const { subscriptions } = await client.get<{ subscriptions: Subscription[] }>(
    '/v1/subscriptions?topic=twice',
  )
  expect(subscriptions.map((one) => one.id)).toEqual([id])
})
