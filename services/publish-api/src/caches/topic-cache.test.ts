import type { Topics } from '@fantail/store'
import { expect, test } from 'vitest'
import { TopicCache } from './topic-cache.ts'

/** A store that answers when the test says so. */
function slowTopics() {
  const asked: PromiseWithResolvers<Awaited<ReturnType<Topics['getWithCounts']>>>[] = []
  const topics: Pick<Topics, 'getWithCounts'> = {
    getWithCounts: () => {
      const answer = Promise.withResolvers<Awaited<ReturnType<Topics['getWithCounts']>>>()
      asked.push(answer)
      return answer.promise
    },
  }
  return { asked, topics }
}

const found = (active: number) =>
  ({ topic: { attributes: {} }, subscriptions: { active, pending: 9, paused: 1 } }) as Awaited<
    ReturnType<Topics['getWithCounts']>
  >

test('callers at the same time share one question; an answer holds for a second, refreshed beside its use', async () => {
  const { asked, topics } = slowTopics()
  let now = 0
  const cache = new TopicCache({ topics, now: () => now })
  expect(cache.known('a')).toBeUndefined()
  const both = Promise.all([cache.find('a'), cache.find('a')])
  asked[0]?.resolve(found(2))
  expect((await both).map((topic) => topic?.fanOut)).toEqual([3, 3])
  now = 500
  expect(cache.known('a')?.fanOut).toBe(3)
  expect(asked).toHaveLength(1)
  now = 900
  expect([cache.known('a')?.fanOut, cache.known('a')?.fanOut, asked.length]).toEqual([3, 3, 2])
  asked[1]?.resolve(found(4))
  await cache.find('a')
  now = 1_900
  expect(cache.known('a')?.fanOut).toBe(5)
  asked[2]?.resolve(found(5))
  await cache.find('a')
  now = 2_901
  expect(cache.known('a')).toBeUndefined()
})

test('while Redis does not answer, what was known holds for three seconds, and no longer', async () => {
  const { asked, topics } = slowTopics()
  let now = 0
  const cache = new TopicCache({ topics, now: () => now })
  const first = cache.find('a')
  asked[0]?.resolve(found(2))
  await first
  now = 900
  cache.known('a')
  now = 2_000
  // The look-up began while the entry was valid, and has no answer yet.
  expect([cache.known('a')?.fanOut, asked.length]).toEqual([3, 2])
  asked[1]?.reject(new Error('Command timed out'))
  await expect(cache.find('a')).rejects.toThrow('Command timed out')
  // The look-up failed a moment ago. It is repeated while the entry is used.
  expect([cache.known('a')?.fanOut, asked.length]).toEqual([3, 3])
  now = 3_001
  expect(cache.known('a')).toBeUndefined()
})

test('a question asked after a pause bridges nothing: the topic may have changed', async () => {
  const { asked, topics } = slowTopics()
  let now = 0
  const cache = new TopicCache({ topics, now: () => now })
  const first = cache.find('a')
  asked[0]?.resolve(found(2))
  await first
  now = 1_500
  expect(cache.known('a')).toBeUndefined()
  void cache.find('a')
  expect(cache.known('a')).toBeUndefined()
})

test('a topic that changes while it is looked up is not remembered', async () => {
  const { asked, topics } = slowTopics()
  const cache = new TopicCache({ topics, now: () => 0 })
  const lookup = cache.find('a')
  cache.forget('a')
  asked[0]?.resolve(found(1))
  await lookup
  expect(cache.known('a')).toBeUndefined()
  const next = cache.find('a')
  asked[1]?.resolve(found(4))
  await next
  expect(cache.known('a')?.fanOut).toBe(5)
  cache.clear()
  expect(cache.known('a')).toBeUndefined()
})

test('missing topics and failures are not remembered', async () => {
  const { asked, topics } = slowTopics()
  const cache = new TopicCache({ topics, now: () => 0 })
  const missing = cache.find('a')
  asked[0]?.resolve(null)
  expect(await missing).toBeNull()
  const failing = cache.find('a')
  asked[1]?.reject(new Error('Connection is closed.'))
  await expect(failing).rejects.toThrow('Connection is closed.')
  expect(cache.known('a')).toBeUndefined()
  const again = cache.find('a')
  asked[2]?.resolve(found(0))
  expect(await again).toMatchObject({ fanOut: 1 })
})

test('large records drop the least recently used ones, before memory fills', async () => {
  const text = 'x'.repeat(4_194_304)
  const topics = { getWithCounts: async () => ({ ...found(1), topic: { attributes: { text } } }) }
  const given = { topics, now: () => 0 }
  const cache = new TopicCache(given as unknown as ConstructorParameters<typeof TopicCache>[0])
  for (const arn of ['a', 'b', 'c', 'd']) await cache.find(arn)
  expect(['a', 'b', 'c', 'd'].map((arn) => cache.known(arn) !== undefined)).toEqual([false, true, true, true])
})
