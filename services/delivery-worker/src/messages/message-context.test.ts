import { createMessageId, type Message } from '@fantail/contracts'
import { expect, test } from 'vitest'
import { MessageContext } from './message-context.ts'

test('protocols without their own text share the parsed default text', () => {
  const message: Message = {
    messageId: createMessageId(1),
    topicArn: 'arn:aws:sns:us-east-1:000000000000:t',
    publishedAt: 1,
    structure: 'json',
    message: JSON.stringify({ default: '{"a":1}', sqs: '{"a":2}' }),
  }
  const context = new MessageContext(message)
  const [http, https, sqs] = [context.subject('http'), context.subject('https'), context.subject('sqs')]
  expect(https).toBe(http)
  expect([http, sqs].map((subject) => subject.leavesAt('a').map(({ value }) => value))).toEqual([[1], [2]])
  expect(context.subject('sqs')).toBe(sqs)
  context.forgetSubjects()
  expect(context.subject('http')).not.toBe(http)
})
