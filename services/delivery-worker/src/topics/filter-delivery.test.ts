/** Filter policies at work: recipients, counters, and the outcome log. */
import type { MessageAttribute, SubscriptionRecord } from '@fantail/contracts'
import { outcomeLogKey } from '@fantail/store'
import { createMetrics } from '@fantail/telemetry'
import { waitFor } from '@fantail/test-kit'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  createFakeSender,
  DLQ,
  type FakeSender,
  telemetryWith,
  urlOf,
  useFixture,
} from '../fixtures/worker.fixture.ts'

const fixture = await useFixture()
let sender: FakeSender
beforeEach(() => {
  sender = createFakeSender()
})

const sentTo = (name: string) =>
  sender.sent.filter((sent) => sent.url === urlOf(name)).map(({ body }) => body)
const text = (value: string): MessageAttribute => ({ type: 'String', value })

const settled = (id: string) =>
  waitFor(async () => {
    const message = await fixture.outcomes.message(id)
    return message && message.counts.waiting === 0 ? message.counts : undefined
  })

test('[159] a message goes to those whose filter it matches; the rest is filtered, never dead', async () => {
  const dlq = { deadLetterTargetArn: DLQ }
  await fixture.queues.put(DLQ, {})
  await fixture.subscribe('all')
  await fixture.subscribe('red', { filterPolicy: { color: ['red'] }, redrivePolicy: dlq })
  await fixture.subscribe('big', { filterPolicy: { size: [{ numeric: ['>', 10] }] }, redrivePolicy: dlq })
  const metrics = createMetrics()
  await fixture.startWorker(sender, { telemetry: telemetryWith(metrics) })
  const id = await fixture.publish('one', { attributes: { color: text('red') } })
  expect(await settled(id)).toMatchObject({ delivered: 2, filtered: 1, deadLettered: 0 })
  expect([sentTo('all'), sentTo('red'), sentTo('big')]).toEqual([['one'], ['one'], []])
  const bare = await fixture.publish('two')
  expect(await settled(bare)).toMatchObject({ delivered: 1, filtered: 2 })
  const rows = await fixture.outcomes.deliveries(bare)
  expect(rows?.map(({ endpoint, state }) => [endpoint, state]).sort()).toEqual([
    [urlOf('all'), 'delivered'],
    [urlOf('big'), 'filtered'],
    [urlOf('red'), 'filtered'],
  ])
  expect((await fixture.queues.getWithCounts(DLQ))?.counts.visible).toBe(0)
  const series = [...metrics.deliveriesFilteredOut.series()].map(({ labels, value }) => [labels.cause, value])
  expect(series.sort()).toEqual([
    ['MessageAttributes', 1],
    ['NoMessageAttributes', 2],
  ])
})

test('[88] a body that is no object is filtered out, not dead', async () => {
  await fixture.subscribe('body', { filterPolicy: { a: ['x'] }, filterPolicyScope: 'MessageBody' })
  await fixture.startWorker(sender)
  expect(await settled(await fixture.publish('no JSON'))).toMatchObject({
    filtered: 1,
    delivered: 0,
    discarded: 0,
  })
  expect(await settled(await fixture.publish('{"a":"x"}'))).toMatchObject({ delivered: 1 })
  expect(sentTo('body')).toEqual(['{"a":"x"}'])
})

test('[102] a filter sees the text of its own protocol', async () => {
  const filterPolicy = { for: ['web'] }
  await fixture.subscribe('web', { filterPolicy, filterPolicyScope: 'MessageBody' })
  const queue = DLQ
  await fixture.queues.put(queue, {})
  await fixture.subscribe('queue', {
    protocol: 'sqs',
    endpoint: queue,
    filterPolicy,
    filterPolicyScope: 'MessageBody',
  })
  await fixture.startWorker(sender)
  const texts = { default: '{"for":"nobody"}', http: '{"for":"web"}' }
  const id = await fixture.publish(JSON.stringify(texts), { structure: 'json' })
  expect(await settled(id)).toMatchObject({ delivered: 1, filtered: 1 })
  expect(sentTo('web')).toEqual(['{"for":"web"}'])
})

test('a subscription gets the event types that it has chosen, within what its filter lets through', async () => {
  const filterPolicy = { color: ['red'] }
  await fixture.subscribe('paid', { eventTypes: ['order.paid'] })
  await fixture.subscribe('orders', { eventTypes: ['order.*'] })
  await fixture.subscribe('red', { eventTypes: ['order.*'], filterPolicy })
  await fixture.subscribe('body', { eventTypes: ['*'], filterPolicy, filterPolicyScope: 'MessageBody' })
  await fixture.startWorker(sender)
  const publish = (message: string, eventType: string, more = {}) =>
    fixture.publish(message, { attributes: { eventType: text(eventType), ...more } })
  expect(await settled(await publish('{"color":"red"}', 'order.paid'))).toMatchObject({
    delivered: 3,
    filtered: 1,
  })
  expect(await settled(await publish('{}', 'order.sent', { color: text('red') }))).toMatchObject({
    delivered: 2,
  })
  expect(await settled(await publish('[]', 'invoice.paid'))).toMatchObject({ delivered: 0, filtered: 4 })
  expect(await settled(await fixture.publish('{"color":"red"}'))).toMatchObject({ delivered: 0, filtered: 4 })
  expect(['paid', 'orders', 'red', 'body'].map((name) => sentTo(name).length)).toEqual([1, 2, 1, 1])
})

test('a filter acts on every message that is dispatched after its change, and `{}` lifts it', async () => {
  const subscription = await fixture.subscribe('a', { filterPolicy: { color: ['red'] } })
  await fixture.startWorker(sender)
  expect(await settled(await fixture.publish('blue', { attributes: { color: text('blue') } }))).toMatchObject(
    {
      filtered: 1,
    },
  )
  await fixture.subscriptions.update(subscription.id, () => ({ filterPolicy: { color: ['blue'] } }))
  // The snapshot may be a moment old. The change takes effect within 100 ms.
  await waitFor(async () => {
    const id = await fixture.publish('blue again', { attributes: { color: text('blue') } })
    return (await settled(id)).delivered === 1
  })
  await fixture.subscriptions.update(subscription.id, () => ({ filterPolicy: null }))
  await waitFor(async () => (await settled(await fixture.publish('anything'))).delivered === 1)
})

describe('hundreds of filters in several slices', () => {
  const COUNT = 620
  const values = 31
  const attributes = (value: string) => ({ attributes: { key: text(value) } })
  const told = (id: string, sum: number) =>
    waitFor(async () => {
      const counts = (await fixture.outcomes.message(id))?.counts
      return counts && counts.filtered + counts.delivered === sum ? counts : undefined
    })
  const logged = async () => {
    const [last] = await fixture.redis.xrevrange(outcomeLogKey(0), '+', '-', 'COUNT', 1)
    return Number(last?.[1][1] ?? 0)
  }
  let subscriptions: SubscriptionRecord[]
  beforeEach(async () => {
    subscriptions = []
    for (let i = 0; i < COUNT; i++)
      subscriptions.push(await fixture.subscribe(`s${i}`, { filterPolicy: { key: [`v${i % values}`] } }))
  })

  test('each message goes to exactly those it matches', async () => {
    await fixture.startWorker(sender)
    const id = await fixture.publish('x', attributes('v7'))
    const counts = await told(id, COUNT)
    expect(counts).toMatchObject({ delivered: COUNT / values, filtered: COUNT - COUNT / values })
    expect(sender.sent).toHaveLength(COUNT / values)
    expect(sender.sent.every(({ url }) => Number(/s(\d+)/.exec(url)?.[1]) % values === 7)).toBe(true)
  })

  test('one entry covers the slices without a match', async () => {
    await fixture.startWorker(sender)
    await told(await fixture.publish('first', attributes('nobody')), COUNT)
    const before = await logged()
    const id = await fixture.publish('second', attributes('nobody'))
    expect(await told(id, COUNT)).toMatchObject({ delivered: 0, filtered: COUNT })
    expect((await logged()) - before).toBe(1)
    const rows = (await fixture.outcomes.deliveries(id)) ?? []
    expect(rows.map(({ endpoint }) => endpoint).sort()).toEqual(subscriptions.map((s) => s.endpoint).sort())
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['filtered']))
    expect(sender.sent).toEqual([])
  })

  test('a filter that changes, goes or comes in a slice that was passed over is obeyed', async () => {
    await fixture.startWorker(sender)
    for (const name of ['first', 'second'])
      await told(await fixture.publish(name, attributes('nobody')), COUNT)
    const changed = subscriptions[600] as SubscriptionRecord
    const sendAgain = async (sum: number, delivered: number) =>
      waitFor(
        async () =>
          (await told(await fixture.publish('x', attributes('nobody')), sum)).delivered === delivered,
      )
    await fixture.subscriptions.update(changed.id, () => ({ filterPolicy: { key: ['nobody'] } }))
    await sendAgain(COUNT, 1)
    await fixture.subscriptions.update(changed.id, () => ({ filterPolicy: null }))
    await sendAgain(COUNT, 1)
    await fixture.subscriptions.delete(changed.id)
    await sendAgain(COUNT - 1, 0)
    await fixture.subscribe('new', { filterPolicy: { key: ['nobody'] } })
    await sendAgain(COUNT, 1)
    expect(new Set(sender.sent.map(({ url }) => url))).toEqual(new Set([changed.endpoint, urlOf('new')]))
  })
})
