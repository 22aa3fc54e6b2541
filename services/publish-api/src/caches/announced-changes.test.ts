import { EventEmitter } from 'node:events'
import { connect, connectSubscriber, WAKE_CHANGES, whenReady } from '@fantail/store'
import { useRedis } from '@fantail/test-kit/use-redis'
import { expect, test } from 'vitest'
import { AnnouncedChanges, type ChangeSubscriber } from './announced-changes.ts'
import { FreshCache } from './fresh-cache.ts'

const { server, redis } = await useRedis()

function follow() {
  const taken: (() => void)[] = []
  const asked: [channel: string, text: string][] = []
  const subscribe = () => new Promise<void>((resolve) => taken.push(resolve))
  const subscriber = Object.assign(new EventEmitter(), { status: 'ready', subscribe })
  const publish = async (channel: string, text: string) => asked.push([channel, text])
  const commands = Object.assign(new EventEmitter(), { publish })
  const clock = { now: 0 }
  const changes = new AnnouncedChanges({
    subscriber: subscriber as unknown as ChangeSubscriber,
    redis: commands as never,
    now: () => clock.now,
  })
  const looked: string[] = []
  const cache = new FreshCache<string>({
    look: async (arn) => {
      looked.push(arn)
      return arn
    },
    now: () => clock.now,
  })
  cache.confirmBy(changes)
  changes.follow([cache])
  const knows = (...arns: string[]) => arns.filter((arn) => cache.known(arn) !== undefined)
  /** Redis confirms the subscriptions. */
  const take = () => {
    for (const done of taken.splice(0)) done()
    return new Promise(setImmediate)
  }
  const answer = (question = asked.at(-1)) => subscriber.emit('message', ...(question ?? []))
  return { subscriber, commands, clock, changes, cache, looked, asked, knows, take, answer }
}

test('records that were cached before Redis took the subscription are dropped', async () => {
  const { cache, knows, take } = follow()
  await cache.find('looked up too early')
  await take()
  expect(knows('looked up too early')).toEqual([])
})

test('a changed record is dropped, and every record when the connection is back', async () => {
  const { subscriber, cache, knows, take } = follow()
  await take()
  for (const arn of ['a', 'b', 'c']) await cache.find(arn)
  subscriber.emit('message', WAKE_CHANGES, 'a')
  subscriber.emit('message', 'another channel', 'b')
  expect(knows('a', 'b', 'c')).toEqual(['b', 'c'])
  subscriber.emit('ready')
  expect(knows('b', 'c')).toEqual([])
})

test('one answer confirms all records, each for ten seconds after it was read', async () => {
  const { clock, changes, cache, looked, asked, knows, take, answer } = follow()
  await take()
  for (const arn of ['a', 'b']) await cache.find(arn)
  for (clock.now = 600; clock.now <= 5_000; clock.now += 600) {
    expect(knows('a', 'b')).toEqual(['a', 'b'])
    answer()
  }
  expect([looked, asked.length]).toEqual([['a', 'b'], 8])
  clock.now = 5_001
  // Past half of this time, its use also reads it.
  expect([knows('a'), looked]).toEqual([['a'], ['a', 'b', 'a']])
  await new Promise(setImmediate)
  clock.now = 9_900
  changes.ask()
  answer()
  clock.now = 10_001
  expect(knows('a', 'b')).toEqual(['a'])
})

test('records that are used less than once a second are confirmed together', async () => {
  const { clock, cache, looked, asked, knows, take, answer } = follow()
  await take()
  for (const arn of ['a', 'b', 'c']) await cache.find(arn)
  clock.now = 2_000
  // This use comes too late for the record, which its caller must read.
  expect([knows('a'), asked.length]).toEqual([[], 1])
  answer()
  clock.now = 2_400
  expect([knows('b'), knows('c'), looked, asked.length]).toEqual([['b'], ['c'], ['a', 'b', 'c'], 1])
})

test('without an answer in time, a record is read again', async () => {
  const { clock, changes, cache, looked, asked, knows, take, answer } = follow()
  await take()
  await cache.find('a')
  clock.now = 600
  expect(knows('a')).toEqual(['a'])
  clock.now = 900
  expect([knows('a'), looked, asked.length]).toEqual([['a'], ['a'], 1])
  clock.now = 901
  expect([knows('a'), looked, asked.length]).toEqual([['a'], ['a', 'a'], 2])
  // The first question has been replaced, so its answer no longer counts.
  answer(asked[0])
  expect(changes.completeAt).toBe(Number.NEGATIVE_INFINITY)
  answer()
  expect(changes.completeAt).toBe(901)
})

test.each([
  ['announcements', 'subscriber'],
  ['commands', 'commands'],
] as const)('the end of the connection of %s takes the confirmations back', async (_, which) => {
  const followed = follow()
  const { clock, changes, cache, asked, knows, take, answer } = followed
  await take()
  await cache.find('a')
  clock.now = 600
  changes.ask()
  answer()
  clock.now = 1_200
  expect(knows('a')).toEqual(['a'])
  followed[which].emit('close')
  answer(asked.at(-1))
  expect([knows('a'), changes.completeAt]).toEqual([[], Number.NEGATIVE_INFINITY])
})

test('nothing is asked while there is no subscription', async () => {
  const { subscriber, changes, asked, take } = follow()
  expect(changes.ask()).toBe(false)
  await take()
  expect(changes.ask()).toBe(true)
  subscriber.emit('close')
  subscriber.emit('ready')
  expect(changes.ask()).toBe(false)
  await take()
  expect([changes.ask(), asked.length]).toEqual([true, 2])
})

test('Redis sends every earlier announcement before the answer', async () => {
  const subscriber = connectSubscriber({ url: server.url, name: 'test' })
  const commands = connect({ url: server.url, name: 'test' })
  await Promise.all([whenReady(subscriber), whenReady(commands)])
  const changes = new AnnouncedChanges({ subscriber, redis: commands })
  const forgotten: string[] = []
  changes.follow([{ forget: (id) => forgotten.push(id), clear: () => undefined }])
  await expect.poll(() => changes.ask()).toBe(true)
  for (let n = 0; n < 50; n++) {
    await redis.publish(WAKE_CHANGES, `${n}`)
    const before = performance.now()
    const answered = () => changes.ask() && changes.completeAt >= before
    await expect.poll(answered, { interval: 1 }).toBe(true)
    expect(forgotten.at(-1)).toBe(`${n}`)
  }
  subscriber.disconnect()
  commands.disconnect()
})
