import type { Message, QueueRecord } from '@fantail/contracts'
import { expect, test, vi } from 'vitest'
import { QueueAdmission } from './queue-admission.ts'

const QUEUE = 'arn:aws:sqs:us-east-1:000000000000:jobs'
const message = { topicArn: 'arn:aws:sns:us-east-1:000000000000:orders' } as Message
const item = { body: 'hello', attributes: {} }

/** A source of queue settings that answers when the test says so. */
function slowQueues() {
  const asked: PromiseWithResolvers<QueueRecord | null>[] = []
  const get = () => {
    const answer = Promise.withResolvers<QueueRecord | null>()
    asked.push(answer)
    return answer.promise
  }
  return { asked, admission: new QueueAdmission({ queues: { get }, clock: () => 1 }) }
}

test('one look-up serves all callers, also where there is no such queue', async () => {
  const { asked, admission } = slowQueues()
  const both = Promise.all([admission.refusalOf(QUEUE, message, item), admission.denies(QUEUE, message)])
  asked[0]?.resolve(null)
  expect(await both).toEqual([undefined, false])
  expect(await admission.denies(QUEUE, message)).toBe(false)
  expect(asked).toHaveLength(1)
})

test('behind a slow Redis the next look-up begins while the last one is valid', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
  try {
    const { asked, admission } = slowQueues()
    const first = admission.denies(QUEUE, message)
    await vi.advanceTimersByTimeAsync(400)
    asked[0]?.resolve(null)
    await first
    expect(await admission.denies(QUEUE, message)).toBe(false)
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(300)
    asked[1]?.reject(new Error('Connection is closed.'))
    await vi.advanceTimersByTimeAsync(0)
    expect(await admission.denies(QUEUE, message)).toBe(false)
    expect(asked).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})

test('types and values that no queue takes are refused before anything is looked up', async () => {
  const { asked, admission } = slowQueues()
  const refused = (type: string, value: string) =>
    admission.refusalOf(QUEUE, message, { body: 'x', attributes: { n: { type, value } } })
  const reason = "a queue does not take the type or value of the attribute 'n'"
  for (const [type, value] of [
    ['String', 'a\x02b'],
    ['String.Array', '["\ufffe"]'],
    ['String', '\ud800'],
    ['String.\x01', 'x'],
    [`String.${'x'.repeat(250)}`, 'x'],
    ['Number', 'seven'],
  ] as const) {
    expect((await refused(type, value))?.message, JSON.stringify([type, value])).toBe(reason)
  }
  expect(asked).toEqual([])
  const taken = refused('Binary', 'AgI=')
  asked[0]?.resolve(null)
  expect(await taken).toBeUndefined()
})

test('a failed look-up fails its callers, and the next call asks again', async () => {
  const { asked, admission } = slowQueues()
  const failing = admission.denies(QUEUE, message)
  asked[0]?.reject(new Error('Connection is closed.'))
  await expect(failing).rejects.toThrow('Connection is closed.')
  const again = admission.refusalOf(QUEUE, message, item)
  asked[1]?.resolve({ attributes: {}, maximumMessageBytes: 1 } as unknown as QueueRecord)
  expect((await again)?.message).toBe('the queue takes at most 1 bytes')
  expect(asked).toHaveLength(2)
})

const kmsKeys = new Map<string, '*' | 'disabled' | string[]>([
  ['alias/mine', ['000000000000']],
  ['alias/theirs', ['111122223333']],
  ['alias/old', 'disabled'],
])

function withKey(KmsMasterKeyId: string): QueueAdmission {
  const get = async () => ({ arn: QUEUE, attributes: { KmsMasterKeyId } }) as unknown as QueueRecord
  return new QueueAdmission({ queues: { get }, clock: () => 1, kmsKeys })
}

test.each([
  ['alias/other', 'the queue names a key that does not exist'],
  ['alias/old', 'the queue’s key is disabled'],
  ['alias/theirs', 'the queue’s key is not for the topic’s account'],
])('a queue with %s refuses the topic’s messages and dead letters: %s', async (keyId, reason) => {
  const admission = withKey(keyId)
  expect(await admission.denies(QUEUE, message)).toBe(true)
  expect(await admission.refusalOf(QUEUE, message, item)).toMatchObject({
    code: 'forbidden',
    message: reason,
  })
  expect(await admission.seals(QUEUE)).toBe(true)
})

test.each(['alias/mine', 'alias/aws/sqs', 'alias/aws/sns'])(
  'a queue’s key %s is no reason',
  async (keyId) => {
    expect(await withKey(keyId).refusalOf(QUEUE, message, item)).toBeUndefined()
  },
)

test('a queue seals its messages also after more queues than are kept have been asked', async () => {
  const attributes = { KmsMasterKeyId: 'alias/aws/sqs' }
  const get = async (arn: string) => ({ arn, attributes }) as unknown as QueueRecord
  const admission = new QueueAdmission({ queues: { get }, clock: () => 1 })
  for (let n = 0; n <= 1_000; n++) await admission.denies(`${QUEUE}-${n}`, message)
  expect(await admission.seals(`${QUEUE}-0`)).toBe(true)
})
