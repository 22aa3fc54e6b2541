/** Every address of the console, and the data that must exist for them. */
import { waitFor } from '@fantail/test-kit'
import type { Stack } from '../harness/services/stack.ts'
import { consoleScreens } from '../repo/repository.ts'

/** Nothing listens at this address, so deliveries fail and wait. */
export const NOBODY = 'http://127.0.0.1:9/hook'

export const KEPT = { seconds: 86_400, bytes: 10_485_760 }

/** A topic with a webhook that fails, and a message that waits for it. */
export async function subscribeNobody({ client }: Stack): Promise<{ id: string; messageId: string }> {
  await client.put('/v1/topics/shop', { displayName: 'Shop', keepMessages: KEPT })
  await client.put('/v1/topics/shop/event-types/order.paid', { schema: { type: 'object' }, deprecated: true })
  const { id } = await client.post<{ id: string }>('/v1/topics/shop/subscriptions', {
    endpoint: NOBODY,
    name: 'Billing',
    deliveryPolicy: { healthyRetryPolicy: { preset: 'steady' } },
    redrivePolicy: { deadLetterTargetArn: 'shop-dead', createQueue: true },
  })
  const { messageId } = await client.post<{ messageId: string }>('/v1/topics/shop/messages', {
    message: { order: 7 },
  })
  return { id, messageId }
}

/** Names and addresses without a place to break a line. */
export async function longNames({ client }: Stack): Promise<void> {
  const topic = `production-${'eu-central-'.repeat(12)}orders`
  await client.put(`/v1/topics/${topic}`)
  const endpoint = `${NOBODY}/${'incoming'.repeat(20)}?token=${'x'.repeat(40)}`
  await client.post(`/v1/topics/${topic}/subscriptions`, { endpoint })
  await client.post(`/v1/topics/${topic}/messages`, { message: 'long' })
}

/** Requests at a time. */
const AT_ONCE = 40

/** Lanes in which a delivery waits, in so many topics. They are paused, so that no attempt disturbs a measurement. */
export async function makePausedLanes({ client }: Stack, lanes: number, topics: number): Promise<void> {
  const left = Array.from({ length: lanes }, (_, n) => n)
  const names = Array.from({ length: topics }, (_, n) => `busy-${n}`)
  for (const name of names) await client.put(`/v1/topics/${name}`)
  const makeNext = async () => {
    for (let n = left.pop(); n !== undefined; n = left.pop()) {
      const body = { endpoint: `https://customer-${n}.example.com/hook`, name: `Customer ${n}` }
      const { id } = await client.post<{ id: string }>(`/v1/topics/${names[n % topics]}/subscriptions`, body)
      await client.post(`/v1/subscriptions/${id}/pause`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, makeNext))
  for (const name of names) await client.post(`/v1/topics/${name}/messages`, { message: { order: 1 } })
  await waitFor(async () => (await client.get<{ waiting: number }>('/v1/lanes?limit=1')).waiting >= lanes, {
    timeoutMs: 60_000,
  })
}

export function mainPaths(subscription: string): string[] {
  return [
    '/',
    '/lanes',
    '/topics/shop',
    `/subs/${subscription}`,
    `/subs/${subscription}/curve?log=1`,
    '/dlq/shop-dead',
  ]
}

export function allPaths(subscription: string): string[] {
  const tabs = ['attempts', 'policy', 'filter', 'outbound', 'keys', 'settings'].map(
    (tab) => `/subs/${subscription}?tab=${tab}`,
  )
  const ofTopic = ['publish', 'types', 'policy', 'filter', 'kept'].map((tab) => `/topics/shop?tab=${tab}`)
  const others = [
    '/queues/shop-dead',
    '/messages?topic=shop',
    '/messages?by=content&text=order',
    '/access?tab=quotas',
    '/access?tab=sessions',
    '/access?tab=audit&resource=shop',
    // No subscription has this id.
    '/subs/0199c3a0-1d2e-7f30-8a4b-5c6d7e8f9012',
    '/nowhere',
  ]
  const screens = consoleScreens().filter((path) => !path.includes('$'))
  return [...new Set([...mainPaths(subscription), ...tabs, ...ofTopic, ...screens, ...others])]
}

/** A queue with three letters that failed permanently at a webhook. */
export async function deadLetters({ client, api }: Stack): Promise<void> {
  await client.put('/v1/topics/refusing')
  // The API itself answers 404 here.
  await client.post('/v1/topics/refusing/subscriptions', {
    endpoint: `${api.url}/no-such-route`,
    redrivePolicy: { deadLetterTargetArn: 'refused', createQueue: true },
  })
  for (const message of ['one', 'two', 'three'])
    await client.post('/v1/topics/refusing/messages', { message })
  await waitFor(async () => {
    const { byReason } = await client.get<{ byReason: Record<string, number> }>(
      '/v1/queues/refused/dead-letters',
    )
    return byReason.permanent === 3
  })
}
