import { createMessageId } from '@fantail/contracts'
import type { FilterSubject } from '@fantail/policy'
import { expect, test } from 'vitest'
import { MessageContext } from '../messages/message-context.ts'
import type { CompiledSlice } from '../topics/compiled-slice.ts'
import { matchEntries } from './log-batch.ts'

const context = () =>
  new MessageContext({ messageId: createMessageId(1), topicArn: 'arn', publishedAt: 1, message: '{"a":1}' })
const slice = { bits: 1 } as CompiledSlice

test.each([
  ['matched', () => ({ matched: [], filtered: Buffer.alloc(0), reasons: new Map() })],
  [
    'quarantined',
    () => {
      throw new Error('a filter that cannot be asked')
    },
  ],
])('a message that was %s keeps nothing of what filters saw of it', async (_, outcome) => {
  const message = context()
  const seen: FilterSubject[] = []
  await matchEntries(slice, [message], (_slice, { subject }) => {
    seen.push(subject.call(message, 'sqs'))
    return outcome()
  })
  expect(seen).toHaveLength(1)
  expect(message.subject('sqs')).not.toBe(seen[0])
})
