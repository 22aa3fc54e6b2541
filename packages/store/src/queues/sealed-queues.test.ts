import { createMessageId, type DeadLetter, queueArn, topicArn } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { Quarantine } from '../quarantine/quarantine.ts'
import { KEYLESS, testSeals } from '../records/body-seals.fixture.ts'
import { sumText } from '../records/checksums.ts'
import { SealKeyError, sealMessage } from '../records/sealed-messages.ts'
import { UnreadableRecordError } from '../records/stored-json.ts'
import { redrivenItemId } from './items/queue-ids.ts'
import { besidePayload, readItem } from './items/queue-items.ts'
import { openPayload, redrivenPayload, sealPayload } from './items/sealed-payloads.ts'
import { newArn, newFifoArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const { redis, skew } = await useQueues()
const seals = testSeals()
const sealing = new Queues(redis, { seals })
const keyless = new Queues(redis, { seals: KEYLESS })
const LOCKED_MS = 60_000

test('without the key a receive returns what it can read, and sealed messages stay for others', async () => {
  const arn = newArn()
  await sealing.put(arn, { visibilityTimeoutSeconds: 0 })
  await sealing.send(arn, [{ body: 'open' }, { body: 'secret', sealed: true }])
  const [read, ...none] = await keyless.receive(arn, { maxMessages: 10 })
  expect([read?.body, none]).toEqual(['open', []])
  await keyless.ack(arn, [read?.receiptHandle ?? ''])
  await skew(LOCKED_MS)
  await expect(keyless.receive(arn, { maxMessages: 10 })).rejects.toThrow(SealKeyError)
  await expect(keyless.send(arn, [{ body: 'x', sealed: true }])).rejects.toThrow(SealKeyError)
  expect((await keyless.peek(arn, { limit: 10 })).items).toMatchObject([{ body: '', sealed: 'locked' }])
  expect((await new Quarantine(redis).list({ limit: 1 })).items).toEqual([])
  await skew(2 * LOCKED_MS)
  expect(await sealing.receive(arn, { maxMessages: 10 })).toMatchObject([{ body: 'secret', sealed: 'open' }])
})

test('a receive without the key does not count, and hides locked messages for a minute', async () => {
  const [arn, dead] = [newArn(), newArn()]
  await sealing.put(dead, {})
  await sealing.put(arn, { redrivePolicy: { deadLetterTargetArn: dead, maxReceiveCount: 1 } })
  const secret = { body: 'secret', sealed: true }
  await sealing.send(arn, [secret, secret, { body: 'open' }])
  for (let minute = 1; minute <= 3; minute++) {
    const received = keyless.receive(arn, { maxMessages: 1 })
    if (minute === 1) expect(await received).toMatchObject([{ body: 'open' }])
    else await expect(received).rejects.toThrow(SealKeyError)
    expect(await sealing.receive(arn, { maxMessages: 9 })).toEqual([])
    await skew((2 + minute) * LOCKED_MS)
  }
  const received = await sealing.receive(arn, { maxMessages: 9 })
  expect(received).toMatchObject(Array(2).fill({ body: 'secret', receiveCount: 1 }))
  expect((await sealing.peek(dead, { limit: 9 })).items).toMatchObject([{ body: 'open' }])
  const handles = received.map(({ receiptHandle = '' }) => receiptHandle)
  expect(await sealing.ack(arn, handles)).toEqual([{ ok: true }, { ok: true }])
})

test('in a FIFO queue nothing overtakes a locked message of its group, also in a repeated receive', async () => {
  const arn = newFifoArn()
  await sealing.put(arn, { contentBasedDeduplication: true })
  const sent = (body: string, groupId = 'a') => ({ body, groupId, sealed: body === 'locked' })
  await sealing.send(arn, [sent('1'), sent('locked'), sent('2'), sent('3', 'b')])
  const repeated = { maxMessages: 9, attemptId: 'once' }
  const received = await keyless.receive(arn, repeated)
  expect(received.map(({ body }) => body)).toEqual(['1', '3'])
  expect(await keyless.receive(arn, repeated)).toEqual(received)
  const handles = received.map(({ receiptHandle = '' }) => receiptHandle)
  await keyless.ack(arn, handles)
  expect(await keyless.receive(arn, { maxMessages: 9 })).toEqual([])
  await skew(8 * LOCKED_MS)
  await expect(keyless.receive(arn, { maxMessages: 9, attemptId: 'again' })).rejects.toThrow(SealKeyError)
  expect(await keyless.receive(arn, { maxMessages: 9, attemptId: 'again' })).toEqual([])
  await skew(9 * LOCKED_MS)
  const rest = await sealing.receive(arn, { maxMessages: 9 })
  expect(rest).toMatchObject([
    { body: 'locked', receiveCount: 1 },
    { body: '2', receiveCount: 1 },
  ])
})

test('a message that is received too often moves sealed, and opens in the dead-letter queue', async () => {
  const [arn, dead] = [newArn(), newArn()]
  await sealing.put(dead, {})
  const redrivePolicy = { deadLetterTargetArn: dead, maxReceiveCount: 1 }
  await sealing.put(arn, { visibilityTimeoutSeconds: 0, redrivePolicy })
  await sealing.send(arn, [{ body: 'secret', sealed: true }])
  await sealing.receive(arn, { maxMessages: 1 })
  const moving = new Queues(redis)
  expect(await moving.receive(arn, { maxMessages: 1 })).toEqual([])
  expect((await sealing.peek(dead, { limit: 1 })).items).toMatchObject([{ body: 'secret' }])
})

test('a redriven item proves by its tasks that the sealed text is its own', () => {
  const [id, other] = ['0192f000-0000-8000-8000-000000000000', '0192f000-0000-8000-8000-000000000001']
  const sealed = sealPayload(seals, 'content', { id, arn: queueArn('jobs') })
  const opened = (payload: string, of: string) => openPayload(JSON.parse(payload), of, seals)
  const [once, twice] = [redrivenItemId('a', id), redrivenItemId('b', redrivenItemId('a', id))]
  const first = redrivenPayload(sealed, id, 'a')
  const second = redrivenPayload(first, once, 'b')
  expect([opened(sealed, id), opened(first, once), opened(second, twice)]).toEqual(Array(3).fill('content'))
  const forged = JSON.stringify({ ...JSON.parse(sealed), i: [id] })
  expect([opened(sealed, other), opened(first, other), opened(second, once), opened(forged, other)]).toEqual(
    Array(4).fill(undefined),
  )
  const moved = JSON.stringify({ ...JSON.parse(sealed), q: queueArn('others') })
  expect(opened(moved, id)).toBeUndefined()
})

test('the letter of a sealed message opens only with its own delivery and message', () => {
  const [id, other] = [createMessageId(1), createMessageId(1)]
  const [own, foreign] = ['orders', 'others'].map((name) => ({
    ...deadLetterOf(id, topicArn(name)),
    message: { messageId: id, topicArn: topicArn(name), publishedAt: 1, message: 'secret' },
  })) as [DeadLetter, DeadLetter]
  const payload = JSON.parse(sealPayload(seals, '"body"', { id, arn: queueArn('jobs'), deadLetter: own }))
  const foreignMessage = sealMessage(seals, foreign.message)
  const read = (d: DeadLetter) => {
    const text = sumText(JSON.stringify({ ...payload, d }), besidePayload(id, ''))
    return readItem([Buffer.from(id), Buffer.from(text), Buffer.from('1'), Buffer.from('0')], seals)
  }
  expect(read(payload.d).message.deadLetter?.message.message).toBe('secret')
  const forged = [
    { ...payload.d, message: foreignMessage },
    { ...payload.d, messageId: other },
    { ...payload.d, topicArn: foreign.topicArn, message: foreignMessage },
    { ...payload.d, subscriptionArn: foreign.subscriptionArn },
    undefined,
  ]
  for (const d of forged) expect(() => read(d as DeadLetter)).toThrow(UnreadableRecordError)
})

function deadLetterOf(messageId: string, arn: string) {
  return {
    reason: 'exhausted',
    statusCode: 500,
    lastError: null,
    attempts: 1,
    subscriptionArn: `${arn}:id`,
    topicArn: arn,
    messageId,
    generation: 0,
    publishedAt: 1,
    deadLetteredAt: 2,
  }
}
