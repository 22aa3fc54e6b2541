import { EventEmitter } from 'node:events'
import { WAKE_CHANGES } from '@fantail/store'
import { expect, test } from 'vitest'
import { AnnouncedChanges } from './announced-changes.ts'
import { FreshCache } from './fresh-cache.ts'

/** Redis as the test wants it: what is published arrives when the test says so. */
function follow({ isCluster = false } = {}) {
  const taken: (() => void)[] = []
  const asked: (PromiseWithResolvers<number> & { channel: string; text: string })[] = []
  const subscribe = () => new Promise<void>((resolve) => taken.push(resolve))
  const publish = (channel: string, text: string) => {
    const answer = Promise.withResolvers<number>()
    asked.push({ ...answer, channel, text })
    return answer.promise
  }
  const subscriber = Object.assign(new EventEmitter(), { status: 'ready', subscribe, isCluster })
  const time = { now: 0 }
  const now = () => time.now
  const given = { redis: { publish }, subscriber, now }
  const changes = new AnnouncedChanges(given as unknown as ConstructorParameters<typeof AnnouncedChanges>[0])
  let looks = 0
  const cache = new FreshCache({ look: async () => ++looks, changes: changes.heard, now })
  changes.follow([cache])
  /** Redis confirms the subscriptions. */
  const take = () => {
    for (const done of taken.splice(0)) done()
    return new Promise(setImmediate)
  }
  /** Redis has taken the latest question, and brings it back. */
  const answer = async ({ arrives = true } = {}) => {
    const question = asked.at(-1)
    question?.resolve(1)
    if (arrives) subscriber.emit('message', question?.channel, question?.text)
    await new Promise(setImmediate)
  }
  return { subscriber, cache, time, asked, take, answer, looks: () => looks }
}

test('records that were cached before Redis took the subscription are dropped', async () => {
  const { cache, take } = follow()
  await cache.find('looked up too early')
  await take()
  expect(cache.known('looked up too early')).toBeUndefined()
})

test('a changed record is dropped, and every record when the connection is back', async () => {
  const { subscriber, cache, take } = follow()
  await take()
  for (const arn of ['a', 'b', 'c']) await cache.find(arn)
  const known = () => ['a', 'b', 'c'].map((arn) => cache.known(arn))
  subscriber.emit('message', WAKE_CHANGES, 'a')
  subscriber.emit('message', 'another channel', 'b')
  expect(known()).toEqual([undefined, 2, 3])
  subscriber.emit('ready')
  expect(known()).toEqual([undefined, undefined, undefined])
})

test('records whose changes were heard are not read again, and one question serves all of them', async () => {
  const { subscriber, cache, time, asked, take, answer, looks } = follow()
  await take()
  for (const arn of ['a', 'b']) await cache.find(arn)
  for (time.now = 600; time.now <= 14_400; time.now += 600) {
    expect([cache.known('a'), cache.known('b')]).toEqual([1, 2])
    await answer()
  }
  expect([looks(), asked.length]).toEqual([2, 24])
  subscriber.emit('message', WAKE_CHANGES, 'a')
  expect([cache.known('a'), cache.known('b')]).toEqual([undefined, 2])
})

test('a record is read again at least every 30 seconds, beside its use', async () => {
  const { cache, time, take, answer, looks } = follow()
  await take()
  await cache.find('a')
  const seen: (number | undefined)[] = []
  for (time.now = 500; time.now <= 60_000; time.now += 500) {
    seen.push(cache.known('a'))
    await answer()
  }
  expect([seen.includes(undefined), looks()]).toEqual([false, 4])
})

test('a record is valid for a second if announcements no longer arrive, although Redis answers', async () => {
  const { cache, time, take, answer } = follow()
  await take()
  await cache.find('a')
  time.now = 900
  expect(cache.known('a')).toBe(1)
  await answer({ arrives: false })
  time.now = 1_001
  expect(cache.known('a')).toBeUndefined()
})

test('a question without an answer does not keep the next one back for ever', async () => {
  const { cache, time, asked, take, answer } = follow()
  await take()
  await cache.find('a')
  time.now = 600
  cache.known('a')
  await answer({ arrives: false })
  time.now = 4_000
  await cache.find('a')
  time.now = 4_600
  cache.known('a')
  await answer()
  time.now = 5_500
  expect([cache.known('a'), asked.length]).toEqual([2, 3])
})

test('while Redis does not answer, what was known holds for three seconds, and no longer', async () => {
  const { cache, time, asked, take, answer } = follow()
  await take()
  await cache.find('a')
  time.now = 600
  cache.known('a')
  await answer()
  time.now = 1_200
  cache.known('a')
  time.now = 3_500
  expect(cache.known('a')).toBe(1)
  asked.at(-1)?.reject(new Error('Command timed out'))
  await new Promise(setImmediate)
  expect(cache.known('a')).toBe(1)
  time.now = 3_601
  expect(cache.known('a')).toBeUndefined()
})

test('an answer from before a gap proves nothing', async () => {
  const { subscriber, cache, time, asked, take } = follow()
  await take()
  await cache.find('a')
  time.now = 600
  cache.known('a')
  subscriber.emit('ready')
  await take()
  await cache.find('a')
  const question = asked.at(-1)
  time.now = 1_500
  subscriber.emit('message', question?.channel, question?.text)
  time.now = 1_601
  expect(cache.known('a')).toBeUndefined()
})

test('the nodes of a cluster announce in no order, so records are read again', async () => {
  const { cache, time, asked, take, looks } = follow({ isCluster: true })
  await take()
  await cache.find('a')
  time.now = 600
  expect([cache.known('a'), looks(), asked.length]).toEqual([1, 2, 0])
})
