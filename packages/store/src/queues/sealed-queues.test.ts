import { queueArn } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { Quarantine } from '../quarantine/quarantine.ts'
import { KEYLESS, testSeals } from '../records/body-seals.fixture.ts'
import { SealKeyError } from '../records/sealed-messages.ts'
import { redrivenItemId } from './items/queue-ids.ts'
import { openPayload, redrivenPayload, sealPayload } from './items/sealed-payloads.ts'
import { newArn, useQueues } from './queues.fixture.ts'
import { Queues } from './queues.ts'

const { redis } = await useQueues()
const seals = testSeals()
const sealing = new Queues(redis, { seals })
const keyless = new Queues(redis, { seals: KEYLESS })

test('without the key a receive returns what it can read, and sealed messages stay for others', async () => {
  const arn = newArn()
  await sealing.put(arn, { visibilityTimeoutSeconds: 0 })
  await sealing.send(arn, [{ body: 'open' }, { body: 'secret', sealed: true }])
  const [read, ...none] = await keyless.receive(arn, { maxMessages: 10 })
  expect([read?.body, none]).toEqual(['open', []])
  await keyless.ack(arn, [read?.receiptHandle ?? ''])
  await expect(keyless.receive(arn, { maxMessages: 10 })).rejects.toThrow(SealKeyError)
  await expect(keyless.send(arn, [{ body: 'x', sealed: true }])).rejects.toThrow(SealKeyError)
  expect((await keyless.peek(arn, { limit: 10 })).items).toMatchObject([{ body: '', sealed: 'locked' }])
  expect((await new Quarantine(redis).list({ limit: 1 })).items).toEqual([])
  expect(await sealing.receive(arn, { maxMessages: 10 })).toMatchObject([{ body: 'secret', sealed: 'open' }])
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
