import type { TopicRecord } from '@fantail/contracts'
import { createMessageId } from '@fantail/contracts'
import { createLogger } from '@fantail/runtime'
import { deliveryId, type LogMove, type LogMoved } from '@fantail/store'
import { expect, test } from 'vitest'
import { MessageContext } from '../message-context.ts'
import type { TopicPlan } from '../plan-cache.ts'
import { LogReaders, type LogReadersOptions } from './log-readers.ts'

const ARN = 'arn:aws:sns:us-east-1:000000000000:orders.fifo'

test('nothing is matched by the plan of an earlier topic of the name', async () => {
  const messageId = createMessageId(Date.now())
  const message = { messageId, topicArn: ARN, publishedAt: Date.now(), message: 'hello' }
  const entry = { id: deliveryId(messageId), body: Buffer.from(JSON.stringify(message)) }
  const moved: LogMove[] = []
  const found = (entries: (typeof entry)[]): LogMoved => ({ kind: 'moved', entries, nextDueAt: null })
  const uids = ['earlier', 'own']
  const options: LogReadersOptions = {
    reading: {
      read: async () => found([entry]),
      move: async (_shard, _claim, move) => {
        moved.push(move)
        return found(move.messages.length === 0 ? [entry] : [])
      },
      letGo: async () => undefined,
    },
    plans: { topic: async () => planOf(uids.shift() ?? 'own'), sliceOf: async () => null },
    bodies: { read: () => new MessageContext(message), keep: () => undefined },
    recorder: { filtered: () => undefined, moved: () => undefined, unmatched: () => undefined },
    counts: { setAside: async () => undefined },
    log: createLogger({ service: 'test', level: 'silent' }),
    onDue: () => undefined,
  }
  const readers = new LogReaders(options)
  readers.read(0, { uid: 'own', topicArn: ARN, fence: 1 })
  await expect.poll(() => moved.length).toBe(2)
  expect(moved.map(({ messages }) => messages.length)).toEqual([0, 1])
  await readers.stop()
})

function planOf(uid: string): TopicPlan {
  return { topic: { arn: ARN, uid } as TopicRecord, revision: uid, slices: [], since: 0, hasFilters: false }
}
