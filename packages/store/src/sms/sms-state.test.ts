import { useRedis } from '@fantail/test-kit/use-redis'
import { beforeEach, expect, test } from 'vitest'
import { connect, SandboxNumbers, SmsState } from '../index.ts'
import { optedOutKey, sandboxNumbersKey, smsSpentKey } from '../keys/keys.ts'

const { redis } = await useRedis({ connect })
const NOW = Date.parse('2026-11-30T23:59:59.000Z')
const NUMBER = '+15550100'
const problems: unknown[] = []
const clock = { now: NOW }
const state = () =>
  new SmsState(redis, { clock: () => clock.now, onProblem: (error) => void problems.push(error) })
const reserve = (costUsd = 0.1, more: object = {}) =>
  state().reserve({ number: NUMBER, costUsd, dayUsdMax: 0.5, monthUsdMax: 1, ...more })

beforeEach(async () => {
  await redis.flushall()
  problems.length = 0
  clock.now = NOW
})

test('processes share the bounds of a day and of a month, and never pass them', async () => {
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => reserve()))
  expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => 'reserved'),
    ...Array.from({ length: 3 }, () => 'spent'),
  ])
  expect(await state().spentUsd()).toEqual({ today: 0.5, thisMonth: 0.5 })
  const nextDay = { dayUsdMax: 10, monthUsdMax: 0.55 }
  expect((await reserve(0.1, nextDay)).outcome).toBe('spent')
  clock.now += 1_000
  expect((await reserve(0.1, nextDay)).outcome).toBe('reserved')
  expect(await state().spentUsd()).toEqual({ today: 0.1, thisMonth: 0.1 })
})

test('a refund goes to the day and month of its reservation, and never below nothing', async () => {
  const { spend } = await reserve(0.3)
  clock.now += 1_000
  await state().refund(spend)
  await state().refund(spend)
  expect(await redis.mget(smsSpentKey('2026-11-30'), smsSpentKey('2026-11'))).toEqual(['0', '0'])
  expect(await redis.ttl(smsSpentKey('2026-11-30'))).toBeGreaterThan(86_400)
  expect(await state().spentUsd()).toEqual({ today: 0, thisMonth: 0 })
  expect(problems).toEqual([])
})

test('MonthlySpendLimit lowers the bound of a month, and the defaults come with each reservation', async () => {
  await state().setAttributes({
    MonthlySpendLimit: '0',
    DefaultSenderID: 'Fantail',
    DefaultSMSType: 'Transactional',
  })
  expect(await reserve()).toMatchObject({
    outcome: 'spent',
    senderId: 'Fantail',
    smsType: 'Transactional',
  })
  await state().setAttributes({ MonthlySpendLimit: '50' })
  expect((await reserve(0)).statusLog).toBeUndefined()
  const role = { DeliveryStatusIAMRole: 'arn:aws:iam::000000000000:role/sms' }
  await state().setAttributes(role)
  expect((await reserve(0)).statusLog).toEqual({ share: 1, failures: true })
  await state().setAttributes({ DeliveryStatusSuccessSamplingRate: '0' })
  const statusLog = { share: 0, failures: true }
  expect((await reserve(0)).statusLog).toEqual(statusLog)
  expect(await state().defaults()).toEqual({ smsType: 'Transactional', statusLog })
  expect((await reserve(0.4)).outcome).toBe('reserved')
  expect((await reserve(0.7, { dayUsdMax: 10 })).outcome).toBe('spent')
})

test('an opted-out number reserves nothing until it is opted in', async () => {
  expect([await state().optOut(NUMBER), await state().optOut(NUMBER)]).toEqual(['added', 'present'])
  expect((await reserve()).outcome).toBe('optedOut')
  expect(await state().spentUsd()).toEqual({ today: 0, thisMonth: 0 })
  expect([await state().optIn(NUMBER), await state().optIn(NUMBER)]).toEqual([true, false])
  expect((await reserve()).outcome).toBe('reserved')
})

test('opted-out numbers are listed in pages', async () => {
  for (const number of ['+3', '+1', '+2']) await state().optOut(number)
  const first = await state().optedOut({ limit: 2 })
  expect(first.items).toEqual(['+1', '+2'])
  const second = await state().optedOut({ limit: 2, cursor: first.nextCursor ?? '' })
  expect(second).toEqual({ items: ['+3'], nextCursor: null })
})

test('messages are reserved and refunded in a full memory, and an opt-out that is not kept is reported', async () => {
  await redis.config('SET', 'maxmemory', '1')
  try {
    const { outcome, spend } = await reserve()
    await state().refund(spend)
    await state().noteOptOut(NUMBER)
    expect(outcome).toBe('reserved')
    expect(problems).toHaveLength(1)
  } finally {
    await redis.config('SET', 'maxmemory', '0')
  }
})

test('the sandbox keeps ten numbers', async () => {
  const sandbox = new SandboxNumbers(redis)
  for (let n = 0; n < 10; n++) expect(await sandbox.add(`+1555010${n}`)).toBe(true)
  expect([await sandbox.add('+15550110'), await sandbox.add('+15550100')]).toEqual([false, true])
  expect([await sandbox.verify('+15550101'), await sandbox.verify('+1')]).toEqual([true, false])
  expect((await sandbox.list()).slice(0, 2)).toEqual([
    { number: '+15550100', status: 'Pending' },
    { number: '+15550101', status: 'Verified' },
  ])
  expect([await sandbox.remove('+15550101'), await sandbox.remove('+15550101')]).toEqual([true, false])
})

test('a damaged status must be verified again, and lists of another type hide nothing but themselves', async () => {
  const sandbox = new SandboxNumbers(redis)
  for (const number of ['+15550100', '+15550101']) await sandbox.add(number)
  await sandbox.verify('+15550101')
  await redis.hset(sandboxNumbersKey(), '+15550100', 'Verifiee')
  expect(await sandbox.list()).toEqual([
    { number: '+15550100', status: 'Pending' },
    { number: '+15550101', status: 'Verified' },
  ])
  expect([await sandbox.verify('+15550100'), await sandbox.remove('+15550101')]).toEqual([true, true])
  await state().optOut(NUMBER)
  await redis.del(sandboxNumbersKey())
  await redis.set(sandboxNumbersKey(), 'x')
  expect([await sandbox.list(), (await state().optedOut({ limit: 9 })).items]).toEqual([[], [NUMBER]])
  await redis.rename(sandboxNumbersKey(), optedOutKey())
  expect((await state().optedOut({ limit: 9 })).items).toEqual([])
  await expect(reserve()).rejects.toThrow('WRONGTYPE')
})

test.each([
  ['a damaged amount', (key: string) => redis.setrange(key, 0, '~')],
  ['a key of another type', (key: string) => redis.pipeline().del(key).rpush(key, 'x').exec()],
])('%s of a day becomes that of the month, and one of the month reserves nothing', async (_, damage) => {
  await reserve(0.2)
  clock.now -= 86_400_000
  await reserve(0.3)
  const [day, month] = [smsSpentKey('2026-11-29'), smsSpentKey('2026-11')]
  await damage(day)
  expect((await reserve(0.1)).outcome).toBe('spent')
  expect((await reserve(0.1, { dayUsdMax: 0.6 })).outcome).toBe('reserved')
  expect(await redis.mget(day, month)).toEqual(['600000', '600000'])
  expect(await redis.ttl(day)).toBeGreaterThan(86_400)
  await damage(month)
  await expect(reserve(0.1)).rejects.toMatchObject({ name: 'UnreadableRecordError', key: month })
  expect(await redis.get(day)).toBe('600000')
})

test('a damaged MonthlySpendLimit reserves nothing, because the limit is not known', async () => {
  await state().setAttributes({ MonthlySpendLimit: '5~' })
  await expect(reserve()).rejects.toThrow('unreadable JSON in ft:{sms}:attributes')
  expect(await state().spentUsd()).toEqual({ today: 0, thisMonth: 0 })
})
