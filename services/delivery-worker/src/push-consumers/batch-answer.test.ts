import type { AttemptResult, QueueMessage } from '@fantail/contracts'
import { describe, expect, test } from 'vitest'
import { judgeBatch } from './batch-answer.ts'

const message = (messageId: string, groupId?: string): QueueMessage => ({
  messageId,
  receiveCount: 1,
  body: messageId,
  attributes: {},
  sentAt: 0,
  firstReceivedAt: 0,
  ...(groupId !== undefined && { groupId }),
})
const MESSAGES = [message('a'), message('b'), message('c')]

const answered = (statusCode: number, body?: string): AttemptResult => ({
  kind: 'response',
  statusCode,
  durationMs: 1,
  ...(body !== undefined && { body: Buffer.from(body) }),
})
function judged(result: AttemptResult, given = {}) {
  const outcome = judgeBatch({ result, messages: MESSAGES, reportsFailures: true, inOrder: false, ...given })
  return [outcome.done.map(({ messageId }) => messageId).join(''), outcome.failure]
}

describe('without reports', () => {
  test.each([200, 202, 204, 299])('%i deletes the batch, whatever its body says', (status) => {
    const result = answered(status, '{"batchItemFailures":[{"itemIdentifier":"a"}]}')
    expect(judged(result, { reportsFailures: false })).toEqual(['abc', null])
  })

  test.each([199, 301, 400, 429, 500])('%i deletes nothing', (status) => {
    expect(judged(answered(status), { reportsFailures: false })).toEqual(['', `answered ${status}`])
  })

  test('an attempt that failed deletes nothing', () => {
    const result = {
      kind: 'failure',
      error: 'timeout',
      detail: 'no answer',
      durationMs: 1,
      permanent: false,
    } as const
    expect(judged(result, { reportsFailures: false })).toEqual(['', 'timeout: no answer'])
  })
})

describe('with reports', () => {
  test.each([
    '',
    '  \n',
    '{}',
    'null',
    '{"batchItemFailures":null}',
    '{"batchItemFailures":[]}',
    '{"other":1}',
  ])('%j is a success', (body) => expect(judged(answered(200, body))).toEqual(['abc', null]))

  test('named messages are kept', () => {
    const body = '{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"b"}]}'
    expect(judged(answered(200, body))).toEqual(['ac', null])
  })

  test.each([
    'OK',
    '"text"',
    '[]',
    '5',
    '{"batchItemFailures":{}}',
    '{"batchItemFailures":[null]}',
    '{"batchItemFailures":["b"]}',
    '{"batchItemFailures":[{"itemIdentifier":""}]}',
    '{"batchItemFailures":[{"itemIdentifier":null}]}',
    '{"batchItemFailures":[{"itemIdentifier":"unknown"}]}',
    '{"batchItemFailures":[{"itemIdentifier":"a"},{"id":"b"}]}',
  ])('%j fails the batch', (body) => {
    expect(judged(answered(200, body))).toEqual(['', expect.stringMatching(/JSON|batchItemFailures/)])
  })

  test('an answer that is too long fails the batch', () => {
    expect(judged(answered(200))).toEqual(['', 'its answer is too long'])
  })

  test('a report beside an error changes nothing', () => {
    expect(judged(answered(500, '{"batchItemFailures":[]}'))[0]).toBe('')
  })

  test('in a FIFO queue what follows a failed message in its group is kept too', () => {
    const messages = [message('a', 'g'), message('b', 'g'), message('x', 'h'), message('c', 'g')]
    const body = '{"batchItemFailures":[{"itemIdentifier":"b"}]}'
    expect(judged(answered(200, body), { messages, inOrder: true })).toEqual(['ax', null])
  })
})
