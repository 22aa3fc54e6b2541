/** Filter policies, from the API through a worker to a webhook. */
import { waitFor } from '@fantail/test-kit'
import { expect, test } from 'vitest'
import { useReceiver } from '../harness/receivers/use-receiver.ts'
import { notification, type Subscription, subscribe } from '../harness/receivers/webhooks.ts'
import { useStack } from '../harness/services/stack.ts'

const stack = useStack({ workers: 2 })
const receiver = useReceiver()

interface Counts {
  counts: { delivered: number; filtered: number; waiting: number; deadLettered: number }
}

async function publish(topic: string, message: unknown, attributes = {}): Promise<string> {
  const path = `/v1/topics/${topic}/messages`
  return (await stack().client.post<{ messageId: string }>(path, { message, attributes })).messageId
}

/** Resolves when all `sum` deliveries of the message were made or filtered out. */
const countsOf = (messageId: string, sum: number) =>
  waitFor(async () => {
    const answer = await stack().client.call<Counts>('GET', `/v1/messages/${messageId}`)
    if (answer.status !== 200) return undefined
    const { delivered, filtered } = answer.body.counts
    return delivered + filtered === sum ? answer.body.counts : undefined
  })

const sentTo = (path: string) =>
  receiver()
    .requests.filter((request) => request.path === path)
    .map((request) => notification(request).Message)

test('[78] two subscribers with different policies get what is theirs, and the log says so', async () => {
  const settings = (path: string, filterPolicy: unknown, filterPolicyScope?: string) => ({
    endpoint: `${receiver().url}${path}`,
    filterPolicy,
    ...(filterPolicyScope && { filterPolicyScope }),
  })
  await subscribe(stack(), 'shop', settings('/red', { color: ['red'], size: [{ numeric: ['>', 10] }] }))
  const body = { order: { lines: { sku: [{ prefix: 'B-' }], paid: [true] } } }
  await subscribe(stack(), 'shop', settings('/books', body, 'MessageBody'))
  const lines = (paid: boolean) => ({
    order: {
      lines: [
        { sku: 'A-1', paid: true },
        { sku: 'B-2', paid },
      ],
    },
  })
  const both = await publish('shop', lines(true), { color: 'red', size: 11 })
  const red = await publish('shop', lines(false), { color: 'red', size: 12 })
  const neither = await publish('shop', 'no object', { color: 'red', size: 10 })
  expect(await countsOf(both, 2)).toMatchObject({ delivered: 2, filtered: 0 })
  expect(await countsOf(red, 2)).toMatchObject({ delivered: 1, filtered: 1 })
  expect(await countsOf(neither, 2)).toMatchObject({ delivered: 0, filtered: 2, deadLettered: 0 })
  expect(sentTo('/red').sort()).toEqual(
    [lines(true), lines(false)].map((each) => JSON.stringify(each)).sort(),
  )
  expect(sentTo('/books')).toEqual([JSON.stringify(lines(true))])
  const { deliveries } = await stack().client.get<{ deliveries: { endpoint: string; state: string }[] }>(
    `/v1/messages/${neither}/deliveries`,
  )
  expect(deliveries.map(({ endpoint, state }) => [endpoint, state]).sort()).toEqual([
    [`${receiver().url}/books`, 'filtered'],
    [`${receiver().url}/red`, 'filtered'],
  ])
})

test('a change of a filter acts on every message that is published once it is acknowledged', async () => {
  const { id } = await subscribe(stack(), 'busy', {
    endpoint: `${receiver().url}/round`,
    filterPolicy: { round: ['0'] },
  })
  const expected: string[] = []
  for (let round = 1; round <= 15; round++) {
    // These messages make the workers refresh their snapshots as often as possible.
    await Promise.all([publish('busy', 'noise'), publish('busy', 'noise')])
    await stack().client.patch<Subscription>(`/v1/subscriptions/${id}`, {
      filterPolicy: { round: [`${round}`] },
    })
    const [old] = await Promise.all([
      publish('busy', `old ${round}`, { round: `${round - 1}` }),
      publish('busy', `new ${round}`, { round: `${round}` }),
    ])
    expected.push(`new ${round}`)
    expect(await countsOf(old, 1)).toMatchObject({ filtered: 1 })
    await waitFor(() => sentTo('/round').length >= round)
  }
  expect(sentTo('/round')).toEqual(expected)
})
