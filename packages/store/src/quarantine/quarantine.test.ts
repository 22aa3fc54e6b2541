import { createMessageId } from '@fantail/contracts'
import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect } from '../redis/connections/connect.ts'
import { QUARANTINE_SHARE, Quarantine } from './quarantine.ts'
import type { NewEntry } from './quarantine-entry.ts'

let quarantine: Quarantine
const { redis } = await useRedis({ connect })
beforeEach(async () => {
  await redis.flushall()
  quarantine = new Quarantine(redis)
})

const entry = (id: string, set: Partial<NewEntry> = {}): NewEntry => ({
  id,
  reason: 'bodyUnreadable',
  detail: 'no JSON',
  raw: '{',
  ...set,
})

test('an entry keeps its raw bytes, and a repeated try adds nothing', async () => {
  const raw = Buffer.from([0, 255, 10, 123])
  expect(await quarantine.add(entry('a', { raw, subscriptionId: 's' }))).toBe('added')
  const before = await quarantine.figures()
  expect(await quarantine.add(entry('a', { raw: 'other' }))).toBe('present')
  expect(await quarantine.figures()).toEqual(before)
  expect(await quarantine.raw('a')).toEqual(raw)
  expect(await quarantine.get('a')).toMatchObject({
    reason: 'bodyUnreadable',
    subscriptionId: 's',
    rawBytes: 4,
  })
  expect([await quarantine.get('b'), await quarantine.raw('b')]).toEqual([null, null])
})

test('entries are listed page by page, each once', async () => {
  for (const id of ['c', 'a', 'd', 'b']) await quarantine.add(entry(id))
  const first = await quarantine.list({ limit: 3 })
  const second = await quarantine.list({ limit: 3, cursor: first.nextCursor ?? '' })
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  expect(second.nextCursor).toBeNull()
})

test('an entry is found by the ids of messages that can be read in it, and leaves nothing behind', async () => {
  const [one, two] = [createMessageId(1_000), createMessageId(2_000)]
  const raw = `{"v":1,"m":[{"messageId":"${one}","topicArn":"arn:t"},{"messageId":"${two}","topicArn":"arn:t","mess`
  await quarantine.add(entry('job', { raw }))
  await quarantine.add(entry('other', { messageId: two }))
  const found = async (id: string) => (await quarantine.ofMessage(id)).map((found) => found.id)
  expect([await found(one), await found(two)]).toEqual([['job'], ['job', 'other']])
  expect((await quarantine.get('job'))?.topicArn).toBe('arn:t')
  expect([await quarantine.remove('job'), await quarantine.remove('job')]).toEqual([true, false])
  expect(await quarantine.remove('other')).toBe(true)
  expect(await quarantine.figures()).toMatchObject({ entries: 0, bytes: 0 })
  expect(await redis.keys('ft:{quarantine}:*')).toEqual(['ft:{quarantine}:bytes'])
})

test('past its share of the memory an entry is refused, and goes in once there is capacity', async () => {
  const tries: string[] = []
  const memoryBytes = 100_000
  const bounded = new Quarantine(redis, { memoryBytes, onTry: (result) => void tries.push(result) })
  const raw = 'x'.repeat((memoryBytes * QUARANTINE_SHARE) / 2)
  expect([await bounded.add(entry('a', { raw })), await bounded.add(entry('b', { raw }))]).toEqual([
    'added',
    'full',
  ])
  expect((await bounded.list({ limit: 10 })).items.map(({ id }) => id)).toEqual(['a'])
  await bounded.remove('a')
  expect(await bounded.add(entry('b', { raw }))).toBe('added')
  expect(tries).toEqual(['added', 'full', 'added'])
})
