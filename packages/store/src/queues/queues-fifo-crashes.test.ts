import { crashing } from '@fantail/test-kit'
import { afterEach, expect, test } from 'vitest'
import { connect, whenReady } from '../redis/connections/connect.ts'
import { NUMBER } from '../scripts/lua-numbers.ts'
import { newFifoArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const fixture = await useQueues()
afterEach(() => fixture.skew(0))

const { MOVE_MS } = NUMBER
const ten = { maxMessages: 10 }
const bodies = async (arn: string) => (await fixture.queues.receive(arn, ten)).map((m) => m.body).join(' ')

/** Queues in which g1 and g2 were received once too often, and g3 and h1 never. */
async function exhausted() {
  const { queues } = fixture
  const [dlq, arn] = [newFifoArn('dlq'), newFifoArn('source')]
  await queues.put(dlq, {})
  const redrivePolicy = { deadLetterTargetArn: dlq, maxReceiveCount: 1 }
  await queues.put(arn, { redrivePolicy, contentBasedDeduplication: true })
  const item = (body: string) => ({ body, groupId: body.slice(0, 1) })
  await queues.send(arn, ['g1', 'g2', 'g3', 'h1'].map(item))
  await queues.receive(arn, { maxMessages: 2, visibilityTimeoutSeconds: 0 })
  return { dlq, arn }
}

/** The scripts of one receive that moves messages. */
async function scripts(): Promise<string[]> {
  const names: string[] = []
  const { arn } = await exhausted()
  await new Queues(crashing(fixture.redis, (name) => names.push(name) < 0)).receive(arn, ten)
  return names
}

test('[176] a receive that dies at any script loses nothing, stores nothing twice and keeps every order', async () => {
  const { queues, skew, redis } = fixture
  const steps = await scripts()
  const round = ['receive-in-order-1', 'send-messages-1', 'settle-moves-1']
  expect(steps).toEqual([...round, 'receive-in-order-1'])
  for (const [index, name] of steps.entries()) {
    for (const after of [false, true]) {
      const context = `${after ? 'after' : 'before'} ${name}, ${index}`
      await skew(0)
      const { arn, dlq } = await exhausted()
      let n = 0
      const dying = new Queues(crashing(redis, () => n++ === index, after))
      const received = await dying.receive(arn, ten).catch(() => [])
      await skew(MOVE_MS - 1_000)
      const seen = [...received.map((m) => m.body), await bodies(arn)].join(' ')
      await skew(60_000)
      await bodies(arn)
      await queues.sweep()
      const dead = await queues.peek(dlq, { limit: 10 })
      expect(
        dead.items.slice(0, 2).map((m) => [m.body, m.sequenceNumber?.at(-1)]),
        context,
      ).toEqual([
        ['g1', '1'],
        ['g2', '2'],
      ])
      const all = [...dead.items, ...(await queues.peek(arn, { limit: 10 })).items].map((m) => m.body)
      expect(all.sort(), context).toEqual(['g1', 'g2', 'g3', 'h1'])
      const isOpen = after ? index < 2 : index === 1 || index === 2
      if (isOpen) expect(seen, context).not.toContain('g3')
    }
  }
})

test('a group behind a move that was cut off waits for the end of its lease, others do not', async () => {
  const { queues, skew, redis } = fixture
  const { arn, dlq } = await exhausted()
  const dying = new Queues(crashing(redis, (name) => name === 'send-messages-1'))
  await expect(dying.receive(arn, ten)).resolves.toMatchObject([{ body: 'h1' }])
  expect(await queues.receive(arn, ten)).toEqual([])
  await queues.send(arn, [{ body: 'i1', groupId: 'i' }])
  expect(await bodies(arn)).toBe('i1')
  await skew(MOVE_MS + 1_000)
  expect(await bodies(arn)).toBe('g3')
  expect(await bodies(dlq)).toBe('g1 g2')
})

test('however many receive and acknowledge at once, each group is consumed in order and once', async () => {
  const { queues, server } = fixture
  const arn = newFifoArn()
  await queues.put(arn, { contentBasedDeduplication: true })
  const items = Array.from({ length: 600 }, (_, i) => ({ body: String(i), groupId: `g${i % 12}` }))
  await queues.send(arn, items)
  const connections = await Promise.all(
    Array.from({ length: 4 }, async (_, i) => {
      const redis = connect({ url: server.url, name: `consumer-${i}` })
      await whenReady(redis)
      return redis
    }),
  )
  const consumed: string[] = []
  let senders = 3
  const consume = async (own: Queues, max: number) => {
    for (;;) {
      const received = await own.receive(arn, { maxMessages: max })
      if (received.length === 0 && senders === 0 && consumed.length === 660) return
      consumed.push(...received.map((m) => m.body))
      const results = await own.ack(
        arn,
        received.map((m) => m.receiptHandle ?? ''),
      )
      expect(results.every(({ ok }) => ok)).toBe(true)
    }
  }
  const send = async (sender: number) => {
    for (let i = 0; i < 20; i++) {
      const n = 600 + sender * 20 + i
      await queues.send(arn, [{ body: String(n), groupId: `s${sender}` }])
    }
    senders -= 1
  }
  try {
    const consumers = connections.flatMap((redis) => [1, 7].map((max) => consume(new Queues(redis), max)))
    await Promise.all([...consumers, ...[0, 1, 2].map(send)])
  } finally {
    for (const redis of connections) redis.disconnect()
  }
  const groups = Map.groupBy(consumed.map(Number), (n) => (n < 600 ? n % 12 : Math.floor(n / 20)))
  for (const numbers of groups.values()) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(new Set(consumed).size).toBe(660)
  expect(consumed.length).toBe(660)
})

/** Number of Redis commands that a call makes, also inside scripts. */
async function commandsOf(call: () => Promise<unknown>): Promise<number> {
  const total = async () => {
    const info = await fixture.redis.info('commandstats')
    const calls = [...info.matchAll(/cmdstat_(?!info)[^:]+:calls=(\d+)/g)].map((match) => Number(match[1]))
    return calls.reduce((sum, n) => sum + n, 0)
  }
  const before = await total()
  await call()
  return (await total()) - before
}

test('a receive costs the same however many groups are blocked and however long a group is', async () => {
  const { queues } = fixture
  const costs: number[] = []
  for (const size of [50, 5_000]) {
    const arn = newFifoArn()
    await queues.put(arn, { contentBasedDeduplication: true })
    const items = Array.from({ length: size }, (_, i) => ({ body: `blocked ${i}`, groupId: `b${i}` }))
    await queues.send(arn, items)
    for (let n = 0; n < size; ) n += (await queues.receive(arn, { maxMessages: 100 })).length
    await queues.send(
      arn,
      items.map(({ groupId }) => ({ body: `behind ${groupId}`, groupId })),
    )
    await queues.send(
      arn,
      items.map((_, i) => ({ body: `long ${i}`, groupId: 'long' })),
    )
    const received: unknown[] = []
    costs.push(await commandsOf(async () => received.push(...(await queues.receive(arn, ten)))))
    expect(received).toHaveLength(10)
    costs.push(await commandsOf(() => queues.receive(arn, ten)))
  }
  expect(costs.slice(2)).toEqual(costs.slice(0, 2))
  expect(Math.max(...costs)).toBeLessThan(200)
})
